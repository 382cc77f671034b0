package dev.hongbao.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.Draw;
import dev.hongbao.draw.PlayService;
import dev.hongbao.packet.Packet;
import dev.hongbao.reconcile.BookQueries;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import dev.hongbao.server.Operations;
import dev.hongbao.store.redis.Script;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.UserId;
import java.net.URI;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;
import redis.clients.jedis.Jedis;

/** Looks at a whole test database from outside the server: the reconciliation's checks, and the journals in Redis. */
public final class Books {
    private final TestServers servers;

    public Books(TestServers servers) {
        this.servers = servers;
    }

    /** Fails with the rule and the rows that break it; what a server mends by itself is not looked at. */
    public void assertClean() {
        on(servers.postgresOwnerUrl(), "the checks", statement -> {
            for (var check :
                    BookQueries.where(severity -> severity != Severity.HEALS).entrySet()) {
                assertThat(strings(statement, check.getValue()))
                        .as(check.getKey())
                        .isEmpty();
            }
            return true;
        });
    }

    /** As both below and above, but something may be set aside. */
    public void assertNoViolation() {
        assertThat(lines(finding -> finding.severity() != Severity.QUARANTINED)).isEmpty();
    }

    /** The whole audit: fails also where Redis differs from Postgres and the journals, and that stays. */
    public void assertReconciled() {
        assertThat(audited()).isEmpty();
    }

    /** What the whole audit finds, a line each. */
    public List<String> audited() {
        return lines(finding -> true);
    }

    private List<String> lines(Predicate<Finding> some) {
        try {
            return Operations.reconcile(TestEngine.stores(servers), finding -> {}).stream()
                    .filter(some)
                    .flatMap(finding -> finding.lines().stream())
                    .toList();
        } catch (Exception unanswered) {
            throw new IllegalStateException(unanswered);
        }
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

    /** No packet is past its expiry and open, and no refund is due; invariant I11. */
    public void assertNothingDue() {
        assertThat(longOf("select (select count(*) from packet where closed_at is null and expires_at < now())"
                        + " + (select count(*) from refund_due)"))
                .as("packets that wait for their refund")
                .isZero();
    }

    /** The keys of the shards' journals, in the order of shards. */
    public List<String> journalKeys() {
        return stamps().stream().map(stamp -> stamp + ":journal").toList();
    }

    /** The fields of a journal's entry with one item, as a script writes them. */
    public static Map<String, String> entry(String verb, String item) {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("sum", Script.sha1(verb + " " + item));
        fields.put(verb, item);
        return fields;
    }

    /** A field of a hash of a shard's current generation; null when it is not there. */
    public String hashField(int shard, String name, String field) {
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            return redis.hget(stamps().get(shard) + ":" + name, field);
        }
    }

    /** The shards' generations, in their order. */
    public List<String> stamps() {
        return strings(
                "select '{' || left((select id from installation)::text, 8) || ':' || id || '}:' || epoch || '-' ||"
                        + " nonce from shard order by id");
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
        execute("update packet set opens_at = least(opens_at, now() - interval '1 hour'), expires_at = now() where id"
                + " = '"
                + packet.id() + "'");
    }

    /** Waits until a packet is closed, 2 s at the most. */
    public void awaitClosed(Packet packet) {
        Eventually.eventually(
                Duration.ofSeconds(2),
                () -> assertThat(strings("select closed_at from packet where id = '" + packet.id() + "'"))
                        .doesNotContainNull());
    }

    /** Holds the cost of plays, as a server does before it asks the script. @return the attempt */
    public UUID hold(Draw draw, String user, IdempotencyKey key, int plays) {
        UUID attempt = UUID.randomUUID();
        execute(
                "select hold_plays(array['%s']::uuid[], array['%s']::uuid[], array['%s'], array[%d]::smallint[], array['%s']::uuid[])"
                        .formatted(
                                PlayService.requestOf(draw.id(), new UserId(user), key),
                                draw.id(),
                                user,
                                plays,
                                attempt));
        return attempt;
    }

    /** As the owner of the tables. */
    public void execute(String sql) {
        on(servers.postgresOwnerUrl(), sql, statement -> statement.execute(sql));
    }

    /** @param role {@code owner} of the tables, or else what the server is */
    public void executeAs(String role, String sql) throws SQLException {
        String url = role.equals("owner") ? servers.postgresOwnerUrl() : servers.postgresAppUrl();
        TestDatabase.using(url, statement -> statement.execute(sql));
    }

    private static List<String> strings(String url, String sql) {
        return on(url, sql, statement -> strings(statement, sql));
    }

    private static List<String> strings(Statement statement, String sql) throws SQLException {
        List<String> found = new ArrayList<>();
        try (ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                found.add(rows.getString(1));
            }
        }
        return found;
    }

    private static <T> T on(String url, String what, TestDatabase.Work<T> work) {
        try {
            return TestDatabase.using(url, work);
        } catch (SQLException e) {
            throw new IllegalStateException(what, e);
        }
    }
}
