package dev.hongbao.domain.reconcile;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.util.ArrayList;
import java.util.List;

/**
 * Gathers what some transfers have touched into tables of their transaction, for {@link Scope}: everything else that a run from the
 * checkpoint reads is found from there by an index.
 */
final class Touched {
    /** A draw with more plays is left to the run that reads everything: to check a draw, all its plays are read. */
    static final long MAX_PLAYS = 1_000_000;

    /** The same of a campaign. */
    static final long MAX_POOLS = 100_000;

    /**
     * By indexes alone, whatever the planner knows of the tables yet. So what is gathered, which has no index, must be the outer side
     * of a join: as the inner side it would be read once for each outer row.
     */
    private static final String BY_INDEX =
            "set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off";

    /** But for merge joins: what was gathered is in no order, and each of them would begin with sorting it. */
    private static final String AS_PLANNED = "set local enable_seqscan = on; set local enable_hashjoin = on";

    private static final String NEW = """
            create temporary table since_new on commit drop as select * from transfer where id > %d and id <= %d
            """;

    /** Also those out of whose escrow money went under another subject. */
    private static final String SUBJECTS = """
            create temporary table since_subject on commit drop as
            select subject as id from since_new
            union
            select a.owner::uuid
            from since_account as s cross join lateral (select * from account where id = s.account offset 0) as a
            where s.moved and a.kind in ('escrow', 'hold') and a.owner ~ '^[0-9a-f-]{36}$'
            """;

    private static final String PACKETS = """
            create temporary table since_packet on commit drop as
            select p.* from since_subject as s cross join lateral (select * from packet where id = s.id offset 0) as p
            """;

    private static final String COMMANDS = """
            create temporary table since_command on commit drop as
            select c.* from since_subject as s cross join lateral (select * from command where id = s.id offset 0) as c
            """;

    /**
     * What else became of packets with a new transfer, before and after. Also of what should be a packet's and is not; draws and campaigns
     * have scopes of their own.
     */
    private static final String MORE = """
            create temporary table since_more on commit drop as
            select t.*
            from (select id from since_subject as s
                  where not exists (select from draw as d where d.id = s.id)
                    and not exists (select from campaign as c where c.id = s.id)) as s
            cross join lateral (select * from transfer where subject = s.id and id <= %d
                                union all
                                select * from transfer where subject = s.id and id > %d offset 0) as t
            """;

    /** With those that only earlier steps have moved, where balances are compared: whatever else they touched was checked there. */
    private static final String ACCOUNTS = """
            create temporary table since_account on commit drop as
            select m.account, m.moved, (coalesce(b.balance, 0) + m.amount)::bigint as balance
            from (select account, bool_or(moved) as moved, sum(amount) as amount
                  from (select credit as account, true as moved, amount from since_new
                        union all
                        select debit, true, -amount from since_new
                        union all
                        select account, false, 0 from checkpoint_due where %b) as sides
                  group by account) as m
            left join checkpoint_balance as b on b.account = m.account
            """;

    private static final String CLAIMS = "create temporary table since_claims on commit drop as "
            + Scope.claims("(select * from since_new union all select * from since_more) as t");

    private static final String OTHER = """
            create temporary table since_other on commit drop as select * from since_new where slot is null
            """;

    private static final String DRAWS = """
            create temporary table since_draw on commit drop as
            select d.*
            from (select id from since_subject
                  union
                  select d.id from draw as d left join checkpoint_state as s on s.id = d.id
                  where s.state is distinct from checkpoint_state_of_draw(d.id)) as n
            cross join lateral (select * from draw where id = n.id offset 0) as d
            """;

    private static final String LARGE_DRAWS = """
            delete from since_draw as d
            where (select sum(z.issued) from prize as z where z.draw = d.id) > %d
            returning format('draw %%s, with more than %d plays', d.id)
            """;

    private static final String CAMPAIGNS = """
            create temporary table since_campaign on commit drop as
            select c.*
            from (select s.id from since_subject as s
                  union
                  select o.campaign
                  from since_subject as s cross join lateral (select campaign from pool where packet = s.id offset 0) as o
                  union
                  select m.id
                  from since_account as a cross join lateral (select id from campaign where escrow = a.account offset 0) as m
                  where a.moved
                  union
                  select m.id from campaign as m left join checkpoint_state as s on s.id = m.id
                  where s.state is distinct from checkpoint_state_of_campaign(m.id)) as n
            cross join lateral (select * from campaign where id = n.id offset 0) as c
            """;

    private static final String LARGE_CAMPAIGNS = """
            delete from since_campaign as c
            where (select count(*) from pool as o where o.campaign = c.id) > %d
            returning format('campaign %%s, with more than %d pools', c.id)
            """;

    private static final String POOLS = """
            create temporary table since_pool on commit drop as
            select o.* from since_campaign as c cross join lateral (select * from pool where campaign = c.id offset 0) as o
            """;

    /** With the packets above: one that a campaign pays is a pool. */
    private static final String POOL_PACKETS = """
            create temporary table since_pool_packet on commit drop as
            select p.*
            from (select packet as id from since_pool union select id from since_packet) as o
            cross join lateral (select * from packet where id = o.id offset 0) as p
            """;

    private static final String POOL_TRANSFERS = """
            create temporary table since_pool_transfer on commit drop as
            select t.*
            from (select packet as id from since_pool union select id from since_campaign) as s
            cross join lateral (select * from transfer where subject = s.id offset 0) as t
            """;

    /** What has come since, where balances are compared, as they are now. */
    private static final String LATER = """
            create temporary table since_later on commit drop as
            select account, sum(amount) as amount
            from (select credit as account, amount from transfer where id > %1$d and %2$b
                  union all
                  select debit, -amount from transfer where id > %1$d and %2$b) as sides
            group by account
            """;

    /** How many there are matters to the planner, and not what is most common: a look at few rows tells it. */
    private static final String ANALYZE = "set local default_statistics_target = 10;"
            + " analyze since_new, since_subject, since_packet, since_command, since_more, since_claims, since_other, since_account,"
            + " since_draw, since_campaign, since_pool, since_pool_packet, since_pool_transfer, since_later";

    private Touched() {}

    /**
     * Gathers.
     *
     * @param connection in a transaction
     * @param last whether balances are compared in it: then also those that earlier steps left
     * @return what is too large, and is left to the run that reads everything; a line each
     */
    static Future<List<String>> gather(SqlConnection connection, long after, long upTo, boolean last) {
        List<String> left = new ArrayList<>();
        Future<Void> done = Future.succeededFuture();
        for (String sql : statements(after, upTo, last)) {
            done = done.compose(before -> connection.query(sql).execute()).map(rows -> {
                rows.forEach(row -> left.add(row.getString(0)));
                return null;
            });
        }
        return done.map(left);
    }

    /** What is run for it, in order; those that give rows tell what is too large. */
    static List<String> statements(long after, long upTo, boolean last) {
        return List.of(
                BY_INDEX,
                NEW.formatted(after, upTo),
                ACCOUNTS.formatted(last),
                SUBJECTS,
                PACKETS,
                COMMANDS,
                MORE.formatted(after, upTo),
                CLAIMS,
                OTHER,
                DRAWS,
                LARGE_DRAWS.formatted(MAX_PLAYS, MAX_PLAYS),
                CAMPAIGNS,
                LARGE_CAMPAIGNS.formatted(MAX_POOLS, MAX_POOLS),
                POOLS,
                POOL_PACKETS,
                POOL_TRANSFERS,
                LATER.formatted(upTo, last),
                AS_PLANNED,
                ANALYZE);
    }
}
