package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.store.redis.Script;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;

/** What a settling statement does when its writer is not the one who should write (invariants I8 and I9). */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SettlementIT {
    private TestServers servers;
    private TestEngine engine;
    private Books books;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        engine = TestEngine.start(servers, 1, Map.of("shards", "1"));
        engine.deposit("alice", 100_000);
    }

    @AfterAll
    void stop() {
        engine.close();
        books.assertClean();
    }

    @AfterEach
    void theShardStillSettles() {
        assertThat(engine.claim(engine.send("alice", 10, 1), "zoe").kind()).isEqualTo(Kind.CLAIMED);
    }

    /** The shard's row with something added, as the first five parameters. The cursor does not move: no entry is skipped. */
    private String moves(int epoch, int cursor, String nonce) {
        return books.strings("select format('array[%s]::smallint[], array[%s]::bigint[], array[%L]::text[],"
                        + " array[%s]::bigint[], array[%s]::bigint[]', id, epoch + " + epoch + ", nonce || '" + nonce
                        + "', last_seq + " + cursor + ", last_seq + " + cursor + ") from shard")
                .get(0);
    }

    /** Settles one claim as the application's role. */
    private void settleClaim(String moves, Packet packet, int slot, String user) throws SQLException {
        asApp("select void::text from settle_claims(" + moves + ", array['" + packet.id()
                + "']::uuid[], array[1], array[" + slot + "], array['" + user + "'], array[" + packet.amountOf(slot)
                + "]::bigint[])");
    }

    /** An entry that no script should have written; the owner settles it as any other. */
    private void journal(String... claims) {
        long epoch = books.longOf("select epoch from shard");
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            List<String> fields = Stream.of(claims)
                    .flatMap(claim -> Stream.of("claim", claim))
                    .toList();
            List<String> entry = new ArrayList<>(List.of(books.journalKeys().get(0), "NOMKSTREAM", epoch + "-*"));
            entry.addAll(List.of("sum", Script.sha1(String.join(" ", fields))));
            entry.addAll(fields);
            redis.sendCommand(Protocol.Command.XADD, entry.toArray(String[]::new));
        }
    }

    private double voids() {
        return engine.metrics().get("hongbao.journal.voids").counter().count();
    }

    /** A void entry means that Redis says what Postgres does not: the shard gets a new generation. */
    private void awaitVoids(double before, int count, long epochBefore) {
        Eventually.eventually(Duration.ofSeconds(10), () -> {
            assertThat(voids() - before).isEqualTo(count);
            assertThat(books.sumOfEpochs()).isGreaterThan(epochBefore);
        });
    }

    private String settleClose(String moves, Packet packet) throws SQLException {
        return asApp("select closed::text from settle_closes(" + moves + ", array['" + packet.id() + "']::uuid[])");
    }

    private String asApp(String sql) throws SQLException {
        try (Connection app = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = app.createStatement()) {
            return only(statement, sql);
        }
    }

    private static String only(Statement statement, String sql) throws SQLException {
        try (ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    private String everything() {
        return books.strings("select (select count(*) from claim) || ' ' || (select count(*) from transfer) || ' '"
                        + " || (select count(*) from account) || ' ' || (select sum(balance * id) from account) || ' '"
                        + " || (select count(closed_at) from packet) || ' ' || (select last_seq from shard)")
                .get(0);
    }

    @Test
    void aStaleWriterChangesNothing() {
        // Given
        Packet packet = engine.send("alice", 1000, 5);
        Packet due = engine.send("alice", 1000, 5);
        List<String> stale = List.of(
                moves(0, 1, ""), // another owner was quicker, or a commit of its own was unknown
                moves(0, -1, ""),
                moves(-1, 0, ""), // an old generation
                moves(1, 0, ""),
                moves(0, 0, "x")); // another history with the same epoch
        String before = everything();

        for (String moves : stale) {
            // When, Then
            assertThatThrownBy(() -> settleClaim(moves, packet, 0, "eve"))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            refused -> assertThat(refused.getSQLState()).isEqualTo("HB001"));
            assertThatThrownBy(() -> settleClose(moves, due))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            refused -> assertThat(refused.getSQLState()).isEqualTo("HB001"));
        }
        assertThat(everything()).isEqualTo(before);
    }

    /** @param entries items of one journal entry; {@code %1$s} is a packet of five shares whose first bob has, {@code %2$s} another one */
    @ParameterizedTest
    @CsvSource({
        "a slot that is taken and a user who has one, %1$s 0 eve;%1$s 1 bob;%2$s 0 carol, 2",
        "beyond the last share, %1$s 4 eve mallory;%1$s 7 trudy;%2$s 0 carol, 3",
        "a slot that leaves one out, %1$s 2 eve;%2$s 0 carol, 1"
    })
    void whatContradictsIsVoidAndTheOthersCount(String what, String entries, int count) {
        // Given
        Packet packet = engine.send("alice", 1000, 5);
        Packet other = engine.send("alice", 1000, 5);
        ClaimOutcome bob = engine.claim(packet, "bob");
        double voids = voids();
        long epoch = books.sumOfEpochs();

        // When
        journal(entries.formatted(packet.id(), other.id()).split(";"));
        awaitVoids(voids, count, epoch);

        // Then
        assertThat(books.strings("select user_id from claim where packet = '" + packet.id() + "'"))
                .containsExactly("bob");
        assertThat(books.strings("select user_id from claim where packet = '" + other.id() + "'"))
                .containsExactly("carol");
        assertThat(engine.claim(packet, "bob").wonClaim()).isEqualTo(bob.wonClaim());
        assertThat(engine.claim(packet, "dave").wonClaim().slot()).isEqualTo(1);
        assertThat(engine.claim(packet, "eve").wonClaim().slot()).isEqualTo(2);
    }

    @Test
    void aClaimAfterTheCloseIsVoidAndTheOthersCount() throws SQLException {
        // Given
        Packet packet = engine.send("alice", 1000, 5);
        Packet other = engine.send("alice", 1000, 5);
        engine.claim(packet, "bob");
        books.expire(packet);
        books.awaitClosed(packet);
        long balance = engine.balance("alice");
        double voids = voids();
        long epoch = books.sumOfEpochs();

        // When
        journal(packet.id() + " 1 late", other.id() + " 0 carol");
        awaitVoids(voids, 1, epoch);
        String again = settleClose(moves(0, 0, ""), packet);

        // Then
        assertThat(again).as("closed a second time").isEqualTo("{}");
        assertThat(engine.balance("alice")).isEqualTo(balance);
        assertThat(books.strings("select user_id from claim where packet = '" + packet.id() + "'"))
                .containsExactly("bob");
        assertThat(books.strings("select user_id from claim where packet = '" + other.id() + "'"))
                .containsExactly("carol");
    }

    @Test
    void whatASettlementReadsDoesNotGrowWithThePacketsThatAreOpenAndTheGroups() throws SQLException {
        // Given
        IntStream.range(0, 200).forEach(sent -> engine.send("alice", 10, 1));
        books.execute(
                "update packet set opens_at = now() - interval '1 hour', expires_at = now() where closed_at is null");
        Eventually.eventually(Duration.ofSeconds(5), books::assertNothingDue);
        books.execute("vacuum analyze packet"); // from now on Postgres believes that hardly any are open
        IntStream.range(0, 50).forEach(sent -> engine.send("alice", 10, 1));
        books.execute("insert into feed (group_id) select 'group-' || n from generate_series(1, 1000) as n");
        Packet last = engine.send("alice", 10, 1);
        String settle = "select drained::text from settle_claims(" + moves(0, 0, "") + ", array['" + last.id()
                + "']::uuid[], array[1], array[0], array['bob'], array[10]::bigint[])";

        try (Connection app = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = app.createStatement()) {
            app.setAutoCommit(false);

            // When
            String drained = only(statement, settle);
            String read = only(
                    statement,
                    "select sum(seq_tup_read + idx_tup_fetch) from pg_stat_xact_user_tables"
                            + " where relname in ('packet', 'feed')");
            app.commit();

            // Then
            assertThat(drained).isEqualTo("{" + last.id() + "}");
            assertThat(Integer.parseInt(read)).as("packets and feeds read").isLessThan(20);
        }
    }
}
