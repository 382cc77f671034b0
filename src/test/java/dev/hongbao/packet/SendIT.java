package dev.hongbao.packet;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestCampaigns.assertRefused;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.lucky;
import static dev.hongbao.testing.TestEngine.member;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.Installation;
import dev.hongbao.engine.ShardStore;
import dev.hongbao.engine.Shards;
import dev.hongbao.ledger.Idempotency;
import dev.hongbao.ledger.Origin;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet.Commitment;
import dev.hongbao.packet.SendStatement.NewPacket;
import dev.hongbao.packet.SendStatement.Sent;
import dev.hongbao.packet.split.Split;
import dev.hongbao.packet.split.SplitTerms;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.store.postgres.SqlState;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.RefusingServer;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Asset;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.UserId;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sends: many at once, each with a verdict of its own; beside a recovery; and what is refused cheaply. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SendIT {
    private static final Duration HOUR = Duration.ofHours(1);

    private TestServers servers;
    private TestEngine engine;
    private Books books;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        engine = TestEngine.start(servers, 2, Map.of("shards", "1"));
    }

    @AfterAll
    void stop() {
        engine.close();
        books.assertClean();
    }

    @Test
    void aSendThatMeetsARecoveryIsLoadedIntoTheGenerationThatFollows() throws SQLException {
        // Given a recovery that draws the next generation
        engine.deposit("alice", 100);
        SendStatement statement = new SendStatement(engine.engine().pool(), shards());
        try (Connection recovery = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = recovery.createStatement()) {
            recovery.setAutoCommit(false);
            sql.execute("select draw_generation(id, epoch, nonce, epoch, false, 'next', '') from shard");

            // When
            Future<List<Sent>> sent = statement.execute(List.of(packet("alice", 100, 1, 100)));
            awaitOneThatWaits();
            recovery.commit();

            // Then
            Generation read = Objects.requireNonNull(get(sent).get(0).generation());
            assertThat(read.nonce()).isEqualTo("next");
            assertThat(read.epoch()).isEqualTo(books.longOf("select epoch from shard"));
        }
    }

    @Test
    void aCommitmentToAnotherSeedAndAmountsThatAreNotThePacketsAreRefused() {
        engine.deposit("forger", 200);
        SendStatement statement = new SendStatement(engine.engine().pool(), shards());
        SplitTerms wide = SplitTerms.of(SplitAlgorithm.DOUBLE_MEAN, 100, 2, null, null);
        SplitTerms narrow = SplitTerms.of(SplitAlgorithm.DOUBLE_MEAN, 100, 2, 40L, 60L);
        byte[] seed = new byte[Split.SEED_BYTES];
        byte[] another = seed.clone();
        another[31] = 1;
        Map<SplitTerms, List<long[]>> wrong = Map.of(
                wide,
                List.of(
                        new long[] {60, 39},
                        new long[] {60, 41},
                        new long[] {100},
                        new long[] {50, 30, 20},
                        new long[] {100, 0},
                        new long[] {150, -50}),
                narrow,
                List.of(new long[] {61, 39}, new long[] {100, 0}));

        wrong.forEach((terms, all) -> {
            for (long[] amounts : all) {
                assertThatThrownBy(() -> get(statement.execute(List.of(packet("forger", terms, seed, amounts)))))
                        .hasMessageContaining("do not add up");
            }
            assertThatThrownBy(() -> get(statement.execute(List.of(packet("forger", terms, another, 60, 40)))))
                    .hasMessageContaining("packet_is_committed");
            assertThat(get(statement.execute(List.of(packet("forger", terms, seed, 60, 40)))))
                    .allSatisfy(sent -> assertThat(sent.fresh()).isNotNull());
        });
        assertThat(engine.balance("forger")).isZero();
    }

    @Test
    void aSendIsAnsweredOnTheLoopThatAsks() {
        // Given
        engine.deposit("ivy", 200_000);
        SendCommand small = TestEngine.lucky(1_000, 5, Duration.ofHours(1));
        SendCommand large = TestEngine.lucky(100_000, 2_000, Duration.ofHours(1));

        for (SendCommand command : List.of(small, large)) {
            // When
            boolean isThere = get(engine.loop(0).call(services -> {
                Context asking = Vertx.currentContext();
                return services.packets
                        .send(TestEngine.member("ivy"), command, TestEngine.newKey())
                        .map(sent -> Vertx.currentContext() == asking);
            }));

            // Then
            assertThat(isThere).as("%d shares", command.count()).isTrue();
        }
    }

    @Test
    void aPacketHasAnEscrowOfItsOwnAndAShardThatIsThere() throws SQLException {
        // Given
        engine.deposit("olga", 300);
        Packet sent = engine.send("olga", 300, 1);
        String copy = "insert into packet (id, shard, group_id, sender, kind, asset, amount, count, min, max, split,"
                + " split_version, seed, commitment, luckiest, escrow, refund_to, opens_at, expires_at) select"
                + " %1$s, %2$s, group_id, sender, kind, %3$s, amount, count, min, max, split, split_version, seed,"
                + " packet_commitment(%1$s, seed, %3$s, amount, count, min, max, split, split_version), luckiest,"
                + " %4$s, %5$s, opens_at, expires_at from packet where id = '" + sent.id() + "'";
        UUID fresh = UUID.randomUUID();
        String id = "'" + fresh + "'::uuid";
        try (Connection app = TestDatabase.connect(servers.postgresAppUrl());
                Statement sql = app.createStatement()) {
            sql.execute("begin");
            sql.execute("insert into account (kind, owner, asset) values ('escrow', '" + fresh + "', 'CNY')");
            sql.execute("insert into packet_amounts values ('" + fresh + "', 0, array[300])");
            String escrow = "(select id from account where owner = '" + fresh + "')";
            List<String> wrong = List.of(
                    copy.formatted(id, "shard", "asset", "escrow", "refund_to"), // the other packet's
                    copy.formatted(
                            id, "shard", "asset", "(select min(id) from account where kind = 'source')", "refund_to"),
                    copy.formatted(id, "shard", "asset", "999999999", "refund_to"),
                    copy.formatted(id, "shard", "asset", escrow, "999999998"),
                    copy.formatted(id, "shard", "'GOLD'", escrow, "refund_to"),
                    copy.formatted(id, "77", "asset", escrow, "refund_to"));

            // When, then
            for (String insert : wrong) {
                sql.execute("savepoint before");
                assertThatThrownBy(() -> sql.execute(insert)).as(insert).hasMessageContaining("packet_has_escrow");
                sql.execute("rollback to before");
            }
            sql.execute(copy.formatted(id, "shard", "asset", escrow, "refund_to"));
            sql.execute("rollback");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            array[300, null]; 2; 0
            [2:2]={300}; 1; 1
            """)
    void everyShareHasAnAmountInItsPlace(String amounts, int count, int luckiest) {
        engine.deposit("nell", 300);
        Packet sent = engine.send("nell", 300, 1);
        assertThatThrownBy(() -> books.executeAs("app", """
                insert into account (kind, owner, asset) values ('escrow', '%1$s', 'CNY');
                insert into packet_amounts values ('%1$s', 0, %2$s);
                insert into packet (id, shard, group_id, sender, kind, asset, amount, count, min, max, split, split_version, seed,
                                    commitment, luckiest, escrow, refund_to, opens_at, expires_at)
                select '%1$s', shard, group_id, sender, kind, asset, amount, %3$d, 1, max, split, split_version, seed,
                       packet_commitment('%1$s', seed, asset, amount, %3$d, 1, max, split, split_version), %4$d,
                       (select id from account where owner = '%1$s'), refund_to, opens_at, expires_at
                from packet where id = '%5$s'
                """.formatted(
                                UUID.randomUUID(),
                                amounts.startsWith("[") ? "'" + amounts + "'" : amounts,
                                count,
                                luckiest,
                                sent.id())))
                .hasMessageContaining("do not add up");
    }

    /** A reference is locked, where it names one command: without one order for all, two statements could wait for each other. */
    @Test
    void aStatementTakesItsReferencesInOneOrder() throws SQLException {
        // When
        for (String deposits : List.of(
                "move_wallets('deposit', %1$s, array['backend', 'backend'], %2$s, array['o1', 'o2'],"
                        + " array['', '']::bytea[], array['service', 'service'], array['of-z1', 'of-a1'], %3$s)",
                "deposit_all(%1$s, 'backend', %2$s, array['of-z2', 'of-a2'], %3$s, 'o', '')")) {
            books.executeAs(
                    "app",
                    "select "
                            + deposits.formatted(
                                    "array[gen_random_uuid(), gen_random_uuid()]",
                                    "array['zed', 'ann'], array['CNY', 'CNY'], array[100, 100]::bigint[]",
                                    "array[null, null]::text[]"));
        }
        get(new SendStatement(engine.engine().pool(), shards())
                .execute(List.of(packet("zed", 100, 1, 100), packet("ann", 100, 1, 100))));

        // Then
        assertThat(books.strings("select reference from command where reference like 'of-%' order by ctid"))
                .containsExactly("of-a1", "of-z1", "of-a2", "of-z2", "of-ann", "of-zed");
    }

    /** For a lock. */
    private void awaitOneThatWaits() {
        eventually(
                Duration.ofSeconds(10),
                () -> assertThat(books.longOf("select count(*) from pg_locks as l"
                                + " join pg_stat_activity as a on a.pid = l.pid and a.datname = current_database()"
                                + " where not l.granted"))
                        .isPositive());
    }

    private Shards shards() {
        return new Shards(
                new ShardStore(engine.engine().pool(), new Installation(new UUID(0, 0), "test")), 1, Map.of());
    }

    private static NewPacket packet(String sender, long amount, int count, long... amounts) {
        SplitTerms terms = SplitTerms.of(SplitAlgorithm.DOUBLE_MEAN, amount, count, null, null);
        return packet(sender, terms, new byte[Split.SEED_BYTES], amounts);
    }

    private static NewPacket packet(String sender, SplitTerms terms, byte[] committed, long... amounts) {
        PacketId id = PacketId.create();
        var scope = new Idempotency.Scope(
                new UserId(sender),
                "send",
                newKey(),
                "a test",
                new Origin(new UserId(sender), Origin.By.SERVICE, new Origin.Note("of-" + sender, null)));
        return new NewPacket(
                scope,
                id,
                0,
                lucky(terms.total(), terms.count(), HOUR),
                new SendStatement.SplitResult(
                        terms,
                        new byte[Split.SEED_BYTES],
                        amounts,
                        Commitment.of(id.value(), new Asset("CNY"), terms, committed)),
                HOUR);
    }

    @Test
    void aLargeSendWithAnEmptyWalletCostsOneLook() {
        // Given
        CountingPool counted = new CountingPool(engine.engine().pool());

        // When
        Future<Packet> refused = counted.service().send(member("penniless"), lucky(100_000, 100_000, HOUR), newKey());

        // Then
        assertRefused(Refusal.INSUFFICIENT_FUNDS, () -> get(refused));
        assertThat(counted.take()).isEqualTo(1);
    }

    @Test
    void aLargeSendIsRepeatedAlsoWhenTheWalletIsEmpty() {
        // Given
        engine.deposit("dora", 5000);
        SendCommand large = lucky(5000, 2500, HOUR);
        IdempotencyKey key = newKey();

        // When
        Packet sent = send("dora", large, key);
        Packet again = send("dora", large, key);

        // Then
        assertThat(engine.balance("dora")).isZero();
        assertThat(again.id()).isEqualTo(sent.id());
        assertThat(books.longOf("select count(*) from packet_amounts where packet = '" + sent.id() + "'"))
                .isEqualTo(3);
        assertRefused(Refusal.IDEMPOTENCY_KEY_REUSED, () -> send("dora", lucky(6000, 2500, HOUR), key));
    }

    /** All while one is under way that waits for its wallet, from all loops in turn. */
    private List<Future<Packet>> sendAll(List<String> senders, List<IdempotencyKey> keys) {
        String ahead = "ahead-of-" + senders.get(0);
        engine.deposit(ahead, 10);
        try (Connection held =
                TestDatabase.lockRows(servers.postgresOwnerUrl(), "account where owner = '" + ahead + "'")) {
            Future<Packet> first = sendOn(0, ahead, newKey());
            awaitOneThatWaits();
            List<Future<Packet>> all = IntStream.range(0, senders.size())
                    .mapToObj(i -> sendOn(i, senders.get(i), keys.get(i)))
                    .toList();
            for (int loop = 0; loop < engine.loops(); loop++) {
                get(engine.loop(loop).call(services -> Future.succeededFuture(0))); // what came before has begun
            }
            held.rollback();
            get(first);
            return all;
        } catch (SQLException fault) {
            throw new IllegalStateException(fault);
        }
    }

    private Future<Packet> sendOn(int loop, String sender, IdempotencyKey key) {
        return engine.loop(loop).call(services -> services.packets.send(member(sender), lucky(10, 2, HOUR), key));
    }

    private static List<IdempotencyKey> keys(int count) {
        return Stream.generate(TestEngine::newKey).limit(count).toList();
    }

    private static List<String> names(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> prefix + i).toList();
    }

    @Test
    void sendsOfAllLoopsThatWaitAreOneTransactionAndEachHasItsVerdict() {
        // Given twenty who can pay, one who cannot, one who asks twice under one key, and two who used theirs before
        List<String> senders = new ArrayList<>(names("many", 20));
        senders.forEach(sender -> engine.deposit(sender, 10));
        engine.deposit("few", 9);
        senders.addAll(List.of("few", "many0", "same", "changed"));
        List<IdempotencyKey> keys = new ArrayList<>(keys(21));
        keys.addAll(List.of(keys.get(0), newKey(), newKey()));
        engine.deposit("same", 30);
        engine.deposit("changed", 30);
        Packet before = send("same", lucky(10, 2, HOUR), keys.get(22));
        send("changed", lucky(11, 2, HOUR), keys.get(23));

        // When
        List<Future<Packet>> sent = sendAll(senders, keys);

        // Then
        assertRefused(Refusal.INSUFFICIENT_FUNDS, () -> get(sent.get(20)));
        assertThat(get(sent.get(21)).id()).isEqualTo(get(sent.get(0)).id());
        assertThat(get(sent.get(22)).id()).isEqualTo(before.id());
        assertRefused(Refusal.IDEMPOTENCY_KEY_REUSED, () -> get(sent.get(23)));
        assertThat(Stream.of("few", "same", "changed").map(engine::balance)).containsExactly(9L, 20L, 19L);
        for (int i = 0; i < 20; i++) {
            Packet packet = get(sent.get(i));
            assertThat(engine.balance(senders.get(i))).isZero();
            assertThat(engine.claim(packet, "gabi" + i).kind()).isEqualTo(Kind.CLAIMED);
        }
        assertThat(books.longOf("select count(distinct xmin::text) from packet where sender like 'many%'"))
                .isEqualTo(1);
        assertThat(books.strings("select c.actor || ' ' || c.key from command as c join packet as p on p.id = c.id"
                        + " where p.sender = 'many7'"))
                .containsExactly("many7 " + keys.get(7).value());
        assertThat(books.strings("select i.subject || ' ' || t.kind from idempotency as i"
                        + " join transfer as t on t.subject = i.subject and t.id = i.transfer where i.user_id = 'many7'"
                        + " and i.operation = 'send'"))
                .containsExactly(get(sent.get(7)).id() + " send");
    }

    @Test
    void oneThatPostgresRefusesFailsAlone() {
        // Given
        List<String> senders = names("neighbour", 5);
        senders.forEach(sender -> engine.deposit(sender, 10));
        try (RefusingServer refusing = RefusingServer.rows(books, "packet", "new.sender = 'neighbour2'", "23514")) {
            // When
            List<Future<Packet>> sent = sendAll(senders, keys(5));

            // Then
            assertThatThrownBy(() -> get(sent.get(2))).hasMessageContaining("the test refuses it");
            Stream.of(0, 1, 3, 4)
                    .forEach(i -> assertThat(get(sent.get(i)).sender().value()).isEqualTo("neighbour" + i));
            assertThat(engine.balance("neighbour2")).isEqualTo(10);
        }
    }

    @Test
    void aWalletThatIsLockedHoldsUpItsOwnSendOnly() throws SQLException {
        // Given
        List<String> senders = names("door", 4);
        senders.forEach(sender -> engine.deposit(sender, 10));
        try (Connection frozen = TestDatabase.lockRows(servers.postgresOwnerUrl(), "account where owner = 'door1'")) {
            // When
            List<Future<Packet>> sent = sendAll(senders, keys(4));

            // Then
            Stream.of(0, 2, 3).forEach(i -> assertThat(get(sent.get(i))).isNotNull());
            assertThatThrownBy(() -> get(sent.get(1)))
                    .matches(SqlState::isLocked)
                    .matches(SqlState::isOutage);
            frozen.rollback();
        }
        assertThat(engine.balance("door1")).isEqualTo(10);
    }

    private Packet send(String user, SendCommand command, IdempotencyKey key) {
        return get(engine.loop(0).call(services -> services.packets.send(member(user), command, key)));
    }
}
