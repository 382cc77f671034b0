package dev.hongbao.domain.reconcile;

import org.jspecify.annotations.Nullable;

/**
 * What a run from the checkpoint reads for a check. The check's query is the same: the names of some tables stand for what {@link Touched}
 * has gathered of them. Two names are no tables': {@code packet_claims} has of each packet that has any the number of its claims, their
 * sum, the highest slot, and when the first and the last were settled; {@code other_transfer} has every transfer but claims.
 */
public enum Scope {
    /** Not read: what it costs grows with what there ever was. It is left to the run that reads everything. */
    LEFT_OUT(null),

    /** Read as a whole: what it costs does not grow with what is over. */
    WHOLE("with packet_claims as not materialized (" + claims("transfer") + "),"
            + " other_transfer as not materialized (select * from transfer where slot is null) "),

    /** The transfers since the checkpoint, each for itself, with its accounts, its packet and its command. */
    TRANSFERS("""
            with transfer as not materialized (select * from since_new),
                 other_transfer as not materialized (select * from since_other),
                 account as not materialized (select a.* from since_account as s join account as a on a.id = s.account),
                 packet as not materialized (select * from since_packet),
                 command as not materialized (select * from since_command)
            """),

    /** The accounts that moved. */
    ACCOUNTS("""
            with account as not materialized (select a.* from since_account as s join account as a on a.id = s.account)
            """),

    /** Packets with a transfer since the checkpoint, each with all its transfers; among those are new ones of what is no packet. */
    PACKETS("""
            with packet as not materialized (select * from since_packet),
                 transfer as not materialized (select * from since_new union all select * from since_more),
                 packet_claims as not materialized (select * from since_claims),
                 other_transfer as not materialized (
                     select * from since_other union all select * from since_more where slot is null),
                 packet_amounts as not materialized (
                     select b.* from since_packet as p join packet_amounts as b on b.packet = p.id)
            """),

    /** Transfers that were taken back since the checkpoint. */
    REVERSALS("""
            with reversal as not materialized (select r.* from since_subject as s join reversal as r on r.command = s.id)
            """),

    /** Draws of which anything became since the checkpoint, each with all its plays. */
    DRAWS("""
            with draw as not materialized (select * from since_draw),
                 prize as not materialized (select z.* from since_draw as d join prize as z on z.draw = d.id),
                 play as not materialized (select p.* from since_draw as d join play as p on p.draw = d.id),
                 play_request as not materialized (select r.* from since_draw as d join play_request as r on r.draw = d.id),
                 player as not materialized (select y.* from since_draw as d join player as y on y.draw = d.id),
                 release as not materialized (select r.* from since_draw as d join release as r on r.draw = d.id),
                 transfer as not materialized (select t.* from since_draw as d join transfer as t on t.subject = d.id)
            """),

    /** Campaigns and rains of which anything became since the checkpoint, each with all its pools and their claims. */
    CAMPAIGNS("""
            with campaign as not materialized (select * from since_campaign),
                 rain as not materialized (select r.* from since_campaign as c join rain as r on r.id = c.id),
                 pool as not materialized (select * from since_pool),
                 packet as not materialized (select * from since_pool_packet),
                 transfer as not materialized (select * from since_pool_transfer),
                 budget_raise as not materialized (
                     select r.* from since_campaign as c join budget_raise as r on r.campaign = c.id),
                 command as not materialized (
                     select c.* from since_campaign as m join budget_raise as r on r.campaign = m.id join command as c on c.id = r.command)
            """);

    private final @Nullable String tables;

    Scope(@Nullable String tables) {
        this.tables = tables;
    }

    /** Whether a run from the checkpoint makes checks of this scope. */
    public boolean isRead() {
        return tables != null;
    }

    /** What gives {@code packet_claims} of some transfers. */
    static String claims(String transfers) {
        return "select subject as packet, count(*) as claims, sum(amount) as amount, max(slot) as highest,"
                + " min(at) as first_at, max(at) as last_at from " + transfers
                + " where slot is not null group by subject";
    }

    /** A query on the tables of this scope. */
    String over(String query) {
        return tables + "select * from (" + query + ") as line";
    }
}
