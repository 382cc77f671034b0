package dev.hongbao.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Packet;
import java.net.URI;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import redis.clients.jedis.Jedis;

/** Audits a whole test database from outside the server: invariants I1 to I4 and I8 in SQL, and the journals in Redis. */
public final class Books {
    private static final Map<String, String> VIOLATIONS = new LinkedHashMap<>();

    static {
        VIOLATIONS.put("I1: settled + refund + escrow = total; after the close the escrow is 0", """
                select p.id from packet p join account e on e.id = p.escrow
                left join (select packet, sum(amount) as s from claim group by packet) c on c.packet = p.id
                where coalesce(c.s, 0) + p.refund + e.balance <> p.amount or (p.closed_at is not null and e.balance <> 0)
                """);
        VIOLATIONS.put("I2: the amount of a slot is the one fixed at creation", """
                select c.packet from claim c join packet p on p.id = c.packet
                where c.slot >= p.count or c.amount <> p.amounts[c.slot + 1]
                """);
        VIOLATIONS.put("I2: a user and a slot once a packet", """
                select packet from claim group by packet, user_id having count(*) > 1
                union all select packet from claim group by packet, slot having count(*) > 1
                """);
        VIOLATIONS.put("slots are settled without gaps", """
                select packet from claim group by packet having count(*) <> max(slot) + 1
                """);
        VIOLATIONS.put("I3: two accounts that exist, one asset, a positive amount", """
                select t.id from transfer t
                left join account d on d.id = t.debit left join account c on c.id = t.credit
                where d.asset is distinct from c.asset or t.amount <= 0 or t.debit = t.credit
                """);
        VIOLATIONS.put("I3: every claim and every refund has its transfer", """
                (select packet, w.owner, t.amount from transfer t join account w on w.id = t.credit where t.kind = 'claim'
                 except all select packet, user_id, amount from claim)
                union all
                (select packet, user_id, amount from claim except all
                 select packet, w.owner, t.amount from transfer t join account w on w.id = t.credit where t.kind = 'claim')
                union all
                (select packet, w.owner, t.amount from transfer t join account w on w.id = t.credit where t.kind = 'refund'
                 except all select id, sender, refund from packet where refund > 0)
                union all
                (select id, sender, refund from packet where refund > 0 except all
                 select packet, w.owner, t.amount from transfer t join account w on w.id = t.credit where t.kind = 'refund')
                """);
        VIOLATIONS.put("I4: a balance is the sum of its transfers", """
                select a.id from account a
                left join (select id, sum(m) as s from (select credit as id, amount as m from transfer
                           union all select debit, -amount from transfer) x group by id) t on t.id = a.id
                where a.balance <> coalesce(t.s, 0)
                """);
        VIOLATIONS.put("I4: wallets and escrows are never below 0", """
                select id from account where kind <> 'source' and balance < 0
                """);
        VIOLATIONS.put("I8: refunded at most once, and no claim after the close", """
                select packet from transfer where kind = 'refund' group by packet having count(*) > 1
                union all
                select c.packet from claim c join packet p on p.id = c.packet where c.at > p.closed_at
                """);
    }

    private final TestServers servers;

    public Books(TestServers servers) {
        this.servers = servers;
    }

    /** Fails with the rule and the rows that break it. */
    public void assertClean() {
        VIOLATIONS.forEach((rule, sql) -> assertThat(strings("select (v)::text from (" + sql + ") as v"))
                .as(rule)
                .isEmpty());
    }

    /** Every shard's journal is there and holds no unsettled entry; invariant I11. */
    public void assertJournalsEmpty() {
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            for (String key : journalKeys()) {
                assertThat(redis.type(key)).as(key).isEqualTo("stream");
                assertThat(redis.xrange(key, "-", "+").stream()
                                .filter(entry -> !entry.getFields().containsKey("open")))
                        .as(key)
                        .isEmpty();
            }
        }
    }

    /** No packet is past its expiry and open; invariant I11. */
    public void assertNothingDue() {
        assertThat(longOf("select count(*) from packet where closed_at is null and expires_at < now()"))
                .as("packets that wait for their refund")
                .isZero();
    }

    /** The keys of the shards' journals, in the order of shards. */
    public List<String> journalKeys() {
        return stamps().stream().map(stamp -> stamp + ":journal").toList();
    }

    /** The shards' generations, in their order. */
    public List<String> stamps() {
        return strings("select '{s' || id || '}:' || epoch || '-' || nonce from shard order by id");
    }

    public long sumOfEpochs() {
        return longOf("select sum(epoch) from shard");
    }

    public long longOf(String sql) {
        return Long.parseLong(strings(sql).get(0));
    }

    /** The first column. */
    public List<String> strings(String sql) {
        return strings(servers.postgresOwnerUrl(), sql);
    }

    /** Breaks the application's connections to this database; all, or the one that holds the shards' locks. */
    public void breakConnections(boolean onlyTheLocks) {
        strings(
                servers.postgresAppUrl(),
                "select pg_terminate_backend(pid) from pg_stat_activity"
                        + " where datname = current_database() and usename = current_user and pid <> pg_backend_pid()"
                        + (onlyTheLocks ? " and pid in (select pid from pg_locks where locktype = 'advisory')" : ""));
    }

    /** Makes a packet due now, by Postgres' clock. */
    public void expire(Packet packet) {
        execute(
                "update packet set opens_at = least(opens_at, now() - interval '1 hour'), expires_at = now() where id = '"
                        + packet.id() + "'");
    }

    /** Waits until a packet is closed, 2 s at the most. */
    public void awaitClosed(Packet packet) {
        Eventually.eventually(
                Duration.ofSeconds(2),
                () -> assertThat(strings("select closed_at from packet where id = '" + packet.id() + "'"))
                        .doesNotContainNull());
    }

    /** As the owner of the tables. */
    public void execute(String sql) {
        try (Connection owner = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = owner.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    private static List<String> strings(String url, String sql) {
        try (Connection owner = TestDatabase.connect(url);
                Statement statement = owner.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> found = new ArrayList<>();
            while (rows.next()) {
                found.add(rows.getString(1));
            }
            return found;
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }
}
