package dev.hongbao.reconcile;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The part of the tables that a run from the checkpoint reads for a check. The check's query stays the same: the names of some tables then
 * mean a page of them, given by parameters.
 *
 * <p>Three names are no tables. {@code packet_claims} has a row for each packet with claims: their number and sum, the highest slot, the
 * first time and the last transfer. {@code other_transfer} has every transfer that is no claim. {@code kept} has the moment from which on
 * the outbox has all its rows.
 */
enum Scope {
    /** Not read, since its cost grows with the whole history. Full runs only. */
    LEFT_OUT(null),

    /** Read as a whole. Its cost does not grow with finished items. */
    WHOLE("""
        with packet_claims as not materialized (
                 select subject as packet, count(*) as claims, sum(amount) as amount, max(slot) as highest,
                        min(at) as first_at, max(id) as last
                 from transfer where slot is not null group by subject),
             other_transfer as not materialized (select * from transfer where slot is null),
             kept as (
                 -- Old rows are removed in the order of writing. It differs from the order of their times by the length of a
                 -- transaction; an hour is far more.
                 select case when s.floor = 0 then '-infinity'
                             else (select o.at from outbox as o order by o.n limit 1) + interval '1 hour' end as since
                 from outbox_state as s)
        """),

    /**
     * Transfers above the id $1 and up to $2, each with its accounts and its command. These are looked up one by one, even if the planner
     * expects few transfers.
     */
    TRANSFERS("""
        with transfer as materialized (select * from transfer where id > $1 and id <= $2),
             other_transfer as (select * from transfer where slot is null),
             account as materialized (
                 select a.* from (select debit as id from transfer union select credit from transfer) as s
                 cross join lateral (select * from account where id = s.id offset 0) as a),
             command as materialized (
                 select c.* from (select distinct subject as id from transfer) as s
                 cross join lateral (select * from command where id = s.id offset 0) as c)
        """),

    /**
     * The accounts of $1: their balances, the sums up to the checkpoint, and all later transfers. An account's own indexes find its later
     * transfers, without any cost for other transfers. Only a source has no such index: its transfers are found by their ids.
     */
    ACCOUNTS("""
        with account as materialized (select a.* from unnest($1::bigint[]) as s(id) join account as a on a.id = s.id),
             summed as materialized (
                 select s.* from unnest($1::bigint[]) as d(id) join checkpoint_balance as s on s.account = d.id),
             later as materialized (
                 select a.id as account, m.amount
                 from account as a
                 cross join lateral (
                     select sum(t.amount) as amount
                     from (select amount from transfer
                           where credit = a.id and id > (select summed from checkpoint) and kind in ('deposit', 'claim', 'refund', 'return', 'award', 'proceeds', 'reversal')
                           union all
                           select -amount from transfer
                           where debit = a.id and id > (select summed from checkpoint) and kind in ('withdrawal', 'send', 'fund', 'cost', 'reversal')
                           union all
                           -- Neither index has an escrow's or a hold's other transfers: these belong to its subject.
                           select case when credit = a.id then amount else -amount end from transfer
                           where subject = case when a.kind in ('escrow', 'hold') then a.owner::uuid end
                             and id > (select summed from checkpoint)
                             and (credit = a.id and kind not in ('deposit', 'claim', 'refund', 'return', 'award', 'proceeds', 'reversal') or debit = a.id and kind not in ('withdrawal', 'send', 'fund', 'cost', 'reversal'))) as t) as m
                 where a.kind <> 'source'
                 union all
                 select s.account, sum(s.amount)
                 from (select array_agg(id) as ids from account where kind = 'source' having count(*) > 0) as a
                 cross join lateral (
                     select s.account, s.amount
                     from transfer as t
                     cross join lateral (values (t.credit, t.amount), (t.debit, -t.amount)) as s(account, amount)
                     where t.id > (select summed from checkpoint) and s.account = any (a.ids)) as s
                 group by s.account)
        """),

    /** The packets of $1, each with all its transfers. Some ids of $1 are no packets. */
    PACKETS("""
        with packet as materialized (select p.* from unnest($1::uuid[]) as s(id) join packet as p on p.id = s.id),
             transfer as materialized (select t.* from unnest($1::uuid[]) as s(id) join transfer as t on t.subject = s.id),
             packet_claims as materialized (
                 select subject as packet, count(*) as claims, sum(amount) as amount, max(slot) as highest,
                        min(at) as first_at, max(id) as last
                 from transfer where slot is not null group by subject),
             other_transfer as (select * from transfer where slot is null),
             packet_amounts as not materialized (
                 select b.* from unnest($1::uuid[]) as s(id) join packet_amounts as b on b.packet = s.id)
        """),

    /** The transfers reversed by commands of $1. */
    REVERSALS("""
        with reversal as not materialized (select r.* from unnest($1::uuid[]) as s(id) join reversal as r on r.command = s.id)
        """),

    /** The draws of $1, each with all its plays. */
    DRAWS("""
        with draw as not materialized (select d.* from unnest($1::uuid[]) as s(id) join draw as d on d.id = s.id),
             prize as not materialized (select z.* from unnest($1::uuid[]) as s(id) join prize as z on z.draw = s.id),
             play as not materialized (select p.* from unnest($1::uuid[]) as s(id) join play as p on p.draw = s.id),
             play_request as not materialized (
                 select r.* from unnest($1::uuid[]) as s(id) join play_request as r on r.draw = s.id),
             player as not materialized (select y.* from unnest($1::uuid[]) as s(id) join player as y on y.draw = s.id),
             release as not materialized (select r.* from unnest($1::uuid[]) as s(id) join release as r on r.draw = s.id),
             transfer as not materialized (select t.* from unnest($1::uuid[]) as s(id) join transfer as t on t.subject = s.id)
        """),

    /** The campaigns and rains of $1, each with all its pools and their claims. */
    CAMPAIGNS("""
        with campaign as materialized (select c.* from unnest($1::uuid[]) as s(id) join campaign as c on c.id = s.id),
             rain as materialized (select r.* from unnest($1::uuid[]) as s(id) join rain as r on r.id = s.id),
             pool as materialized (select o.* from unnest($1::uuid[]) as s(id) join pool as o on o.campaign = s.id),
             packet as materialized (select p.* from pool as o join packet as p on p.id = o.packet),
             transfer as materialized (
                 select t.* from (select packet as id from pool union select unnest($1::uuid[])) as s
                 join transfer as t on t.subject = s.id),
             budget_raise as materialized (
                 select r.* from unnest($1::uuid[]) as s(id) join budget_raise as r on r.campaign = s.id),
             command as materialized (select c.* from budget_raise as r join command as c on c.id = r.command)
        """);

    private final @Nullable String tables;

    Scope(@Nullable String tables) {
        this.tables = tables;
    }

    /** Whether a run from the checkpoint makes the checks of this scope. */
    public boolean isRead() {
        return tables != null;
    }

    /** A query on the tables of this scope. */
    String over(String query) {
        return tables + "select * from (" + query + ") as line";
    }

    /** A check on the tables of this scope: selects its first lines. */
    String over(Check check) {
        return tables + lines(check);
    }

    /** Some checks of this scope in one statement and one snapshot. Selects the check's index in the list, and a line. */
    String over(List<Check> checks) {
        List<String> each = new ArrayList<>();
        for (Check check : checks) {
            each.add("select %d, line from (%s) as lines".formatted(each.size(), lines(check)));
        }
        return tables + String.join("\nunion all\n", each);
    }

    /**
     * Materialized, since the planner expects many lines. For the first of them it would choose a plan that begins soon, and takes hours
     * where there are none.
     */
    private static String lines(Check check) {
        return "select line from (with found(line) as materialized (%s) select line from found limit %d) as first"
                .formatted(check.query(), Reconciliation.MAX_LINES);
    }
}
