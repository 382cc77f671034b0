package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.embedded.EmbeddedRedis;
import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A disk that changes what it was given: somebody names it, and nobody is served what is wrong. */
class LyingStorageIT {
    private static final int PAGE = 8_192;
    private static final int SHARES = 12;
    private static final int CLAIMS = 8;
    private static final Map<String, String> OPTIONS = Map.of("shards", "2");
    private static final Duration SOON = Duration.ofSeconds(30);

    /** Each byte and bit that a test changes is printed. */
    private final SplittableRandom random = new SplittableRandom();

    private final Map<String, Long> amounts = new HashMap<>();
    private Packet packet;

    private void claim(TestEngine engine) {
        engine.deposit("alice", 10_000);
        packet = engine.send("alice", 6_000, SHARES);
        for (int i = 0; i < CLAIMS; i++) {
            ClaimOutcome outcome = engine.claim(packet, "user-" + i);
            assertThat(outcome.kind()).isEqualTo(Kind.CLAIMED);
            amounts.put("user-" + i, outcome.claim().amount());
        }
    }

    /** Each answer is the right one, or none, after some seconds. */
    private void assertNothingWrongIsServed(TestEngine engine) {
        Long amount = amounts.get("user-0");
        assertRightOrNone(
                () -> engine.claim(packet, "user-0"),
                again -> again.kind() == Kind.ALREADY_CLAIMED
                        && amount.equals(again.claim().amount()));
        assertRightOrNone(() -> engine.balance("user-0"), amount::equals);
    }

    private static <T> void assertRightOrNone(Supplier<T> question, Predicate<T> isRight) {
        T answer;
        try {
            answer = question.get();
        } catch (RuntimeException none) {
            return;
        }
        assertThat(answer).matches(isRight);
    }

    private void flip(Path file, int at) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        int bit = random.nextInt(8);
        bytes[at] ^= (byte) (1 << bit);
        Files.write(file, bytes);
        System.out.println("bit " + bit + " of byte " + at + " of " + file + " is flipped");
    }

    @ParameterizedTest
    @ValueSource(strings = {"account", "transfer", "packet", "shard"})
    void aPageOfPostgresThatChangedIsNamedAndNotServed(String table) throws Exception {
        try (TestServers servers = Servers.freshKillable();
                TestEngine engine = TestEngine.start(servers, 1, OPTIONS)) {
            // Given
            claim(engine);
            List<Path> files = files(servers, table);

            // When one bit of each page changes
            servers.stopPostgres();
            for (Path file : files) {
                for (int page = 0; page < Files.size(file) / PAGE; page++) {
                    flip(file, page * PAGE + random.nextInt(PAGE));
                }
            }
            servers.startPostgres();

            // Then
            assertNothingWrongIsServed(engine);
            Eventually.eventually(
                    SOON,
                    () -> assertThatThrownBy(() -> Operations.reconcile(TestEngine.stores(servers), finding -> {}))
                            .hasMessageContaining("invalid page in block"));
        }
    }

    /** Of a table or its parts, those with rows. */
    private static List<Path> files(TestServers servers, String table) throws Exception {
        String cluster =
                column(servers.postgres().adminUrl(), "show data_directory").get(0);
        List<String> found = column(
                servers.postgresOwnerUrl(),
                "select pg_relation_filepath(r) from (select relid from pg_partition_tree('" + table
                        + "') union select '" + table + "'::regclass) as t(r) where pg_relation_size(r) > 0");
        assertThat(found).as(table).isNotEmpty();
        return found.stream().map(file -> Path.of(cluster, file)).toList();
    }

    private static List<String> column(String url, String sql) throws Exception {
        List<String> values = new ArrayList<>();
        try (Connection session = TestDatabase.connect(url);
                Statement statement = session.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                values.add(rows.getString(1));
            }
        }
        return values;
    }

    @Test
    void aLogOfRedisThatChangedIsNamedOrNotBelieved(@TempDir Path data) throws Exception {
        assertServed(data, log -> flip(log, random.nextInt((int) Files.size(log))));
    }

    @Test
    void aLogOfRedisThatLostItsEndIsNotBelieved(@TempDir Path data) throws Exception {
        assertServed(data, log -> {
            byte[] bytes = Files.readAllBytes(log);
            Files.write(log, Arrays.copyOf(bytes, random.nextInt(bytes.length)));
        });
    }

    private interface Lie {
        void on(Path log) throws IOException;
    }

    /** All is served as it was, and the race goes on; or Redis does not start, and says why. */
    private void assertServed(Path data, Lie lie) throws Exception {
        try (TestServers servers = Servers.fresh()) {
            // Given
            try (EmbeddedRedis redis = redis(data);
                    TestEngine engine = TestEngine.start(stores(redis, servers), 1, OPTIONS)) {
                claim(engine);
            }

            // When
            lie.on(data.resolve("redis/appendonlydir/appendonly.aof.1.incr.aof"));
            EmbeddedRedis started;
            try {
                started = redis(data);
            } catch (RuntimeException refused) {
                // Then
                assertThat(refused).hasMessageContaining("reading the append only file");
                return;
            }
            try (EmbeddedRedis redis = started) {
                assertAllIsServed(stores(redis, servers));
            }
        }
    }

    private void assertAllIsServed(StoreAddresses stores) throws Exception {
        try (TestEngine engine = TestEngine.start(stores, 1, OPTIONS)) {
            amounts.forEach((user, amount) -> {
                assertThat(engine.claim(packet, user).claim().amount()).isEqualTo(amount);
                assertThat(engine.balance(user)).isEqualTo(amount);
            });
            for (int i = CLAIMS; i < SHARES; i++) {
                assertThat(engine.claim(packet, "user-" + i).kind()).isEqualTo(Kind.CLAIMED);
            }
            assertThat(engine.claim(packet, "late").kind()).isEqualTo(Kind.DRAINED);
            assertThat(Operations.reconcile(stores, finding -> {})).allMatch(Finding::isClean);
        }
    }

    private static EmbeddedRedis redis(Path data) {
        return EmbeddedRedis.start(
                data, EmbeddedOptions.defaults().withSupervised(false).withBinaries(TestServers.BINARIES));
    }

    private static StoreAddresses stores(EmbeddedRedis redis, TestServers servers) {
        StoreAddresses shared = TestEngine.stores(servers);
        return new StoreAddresses(redis.appUrl(), shared.owner(), shared.app());
    }
}
