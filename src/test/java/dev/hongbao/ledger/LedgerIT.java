package dev.hongbao.ledger;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestCampaigns.assertRefused;
import static dev.hongbao.testing.TestEngine.BACKEND;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.lucky;
import static dev.hongbao.testing.TestEngine.member;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.ledger.Ledger.AccountKind;
import dev.hongbao.ledger.Wallets.WalletRecord;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.SendCommand;
import dev.hongbao.store.postgres.SqlState;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.RefusingServer;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Asset;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.pgclient.PgException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The database's own refusals (I3, I4, I12), durability (I5), and commands that happen once (I6). */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LedgerIT {
    private static final Duration HOUR = Duration.ofHours(1);

    private TestServers servers;
    private TestEngine engine;
    private Books books;

    @BeforeAll
    void start(TestServers given) throws SQLException {
        servers = given;
        books = new Books(servers);
        try (Connection owner = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = owner.createStatement()) {
            statement.execute("do $$ begin execute 'alter database ' || current_database()"
                    + " || ' set synchronous_commit = off'; end $$");
        }
        engine = TestEngine.start(servers, 2, Map.of());
        engine.deposit("alice", 1000);
        get(engine.engine().wallets.deposit(BACKEND, new UserId("alice"), new Asset("POINTS"), 1000, newKey()));
        engine.claim(engine.send("alice", 100, 2), "bob");
    }

    @AfterAll
    void stop() {
        engine.close();
        books.assertClean();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "owner; update transfer set amount = amount + 1",
                "owner; delete from transfer",
                "owner; truncate transfer cascade",
                "app; update transfer set amount = amount + 1",
                "app; delete from transfer",
                "app; truncate transfer",
                "owner; update command set actor = 'mallory'",
                "owner; delete from command",
                "owner; truncate command cascade",
                "app; update command set actor = 'mallory'",
                "app; delete from command",
                "app; update account set balance = balance + 1",
                "app; insert into account (kind, owner, asset, balance) values ('wallet', 'x', 'CNY', 5)",
                "app; update packet set amount = 1",
                "app; update play_request set cost = 1",
                "app; delete from refund_due",
                "owner; update packet_amounts set amounts = array[1, 99]",
                "owner; delete from packet_amounts",
                "owner; truncate packet_amounts",
                "owner; insert into packet_amounts select id, 1, array[1] from packet",
                "app; update packet_amounts set amounts = array[1, 99]",
                "app; insert into packet_amounts select id, 1, array[1] from packet",
                "app; delete from packet",
                "app; alter table transfer disable trigger all"
            })
    void whatHappenedStays(String role, String sql) {
        assertThatThrownBy(() -> books.executeAs(role, sql))
                .isInstanceOf(SQLException.class)
                .extracting(refused -> ((SQLException) refused).getSQLState())
                .isEqualTo("42501");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "command",
                "transfer",
                "packet",
                "idempotency",
                "outbox",
                "draw",
                "prize",
                "play",
                "play_request",
                "fulfilment",
                "restriction",
                "revocation",
                "audit_log"
            })
    void onlyTheDatabaseSetsPlacesTimesCountsAndEnds(String table) {
        assertThatThrownBy(() -> books.executeAs(
                        "app", "insert into %1$s overriding system value select * from %1$s".formatted(table)))
                .hasMessageContaining("permission denied for table " + table);
    }

    @ParameterizedTest
    @ValueSource(strings = {"owner", "app"})
    void aPacketClosesWithTheRestOfItsEscrowWhoeverClosesIt(String role) {
        // Given
        engine.deposit("cleo", 100);
        Packet packet = engine.send("cleo", 100, 10);
        String it = " from packet where id = '" + packet.id() + "'; ";
        String close = "update packet set closed_at = now(), refund = %s where id = '" + packet.id() + "'; ";
        String due = "insert into refund_due (packet, shard, refund_to) select id, shard, refund_to" + it;
        String pay = "insert into transfer (subject, debit, credit, amount, kind) select id, escrow, %s, %s, 'refund'";

        // Then
        for (String forgery : List.of(
                close.formatted(0),
                close.formatted(100),
                due + close.formatted(99),
                due + close.formatted(0),
                pay.formatted("refund_to", 40) + it + close.formatted(40),
                pay.formatted("refund_to", 100) + it + close.formatted(0),
                pay.formatted("refund_to", 100) + it + close.formatted(99),
                pay.formatted("(" + wallet("bob", "CNY") + ")", 100) + it + close.formatted(100))) {
            assertViolates(role, "packet_closes_whole", forgery);
        }
    }

    private static String transfer(String debit, String credit, String amount) {
        return "insert into transfer (subject, kind, debit, credit, amount) values (gen_random_uuid(), 'refund', ("
                + debit + "), (" + credit + "), " + amount + ")";
    }

    private static String wallet(String owner, String asset) {
        return "select id from account where kind = 'wallet' and owner = '" + owner + "' and asset = '" + asset + "'";
    }

    @ParameterizedTest
    @ValueSource(strings = {"owner", "app"})
    void aTransferThatBreaksARuleIsRefusedWhoeverMakesIt(String role) {
        String alice = wallet("alice", "CNY");
        String bob = wallet("bob", "CNY");
        assertViolates(role, "account_not_negative", transfer(bob, alice, "99999"));
        assertViolates(role, "a transfer moves one asset", transfer(alice, wallet("alice", "POINTS"), "1"));
        assertViolates(role, "does not exist", transfer(alice, "select 4711", "1"));
        assertViolates(role, "transfer_amount", transfer(alice, bob, "0"));
        assertViolates(role, "transfer_amount", transfer(alice, bob, "-5"));
        assertViolates(role, "transfer_amount", transfer(alice, bob, "100000000000000"));
        assertViolates(role, "transfer_two_accounts", transfer(alice, alice, "1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"owner", "app"})
    void aShareIsWonOnceAndAUserWinsOneWhoeverWritesIt(String role) {
        assertViolates(role, "transfer_slot", claim(0, wallet("alice", "CNY")));
        assertViolates(role, "transfer_claim", claim(1, wallet("bob", "CNY")));
        assertViolates(role, "transfer_slot_check", claim(-1, wallet("alice", "CNY")));
        assertViolates(
                role, "transfer_is_claim", claim(1, wallet("alice", "CNY")).replace("'claim'", "'refund'"));
        assertViolates(
                role,
                "transfer_is_claim",
                transfer(wallet("alice", "CNY"), wallet("bob", "CNY"), "1").replace("'refund'", "'claim'"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"owner", "app"})
    void whatSomebodyHasToAskForIsNotMovedWithoutACommandWhoeverWritesIt(String role) {
        for (String kind : List.of("deposit", "withdrawal", "send")) {
            assertViolates(
                    role,
                    "transfer_has_command",
                    transfer(wallet("alice", "CNY"), wallet("bob", "CNY"), "1").replace("refund", kind));
        }
    }

    /** On the packet that bob has claimed slot 0 of. */
    private static String claim(int slot, String wallet) {
        return "insert into transfer (kind, debit, credit, amount, subject, slot)" + " select 'claim', escrow, ("
                + wallet + "), 1, id, " + slot + " from packet";
    }

    @Test
    void aBalanceBelowZeroIsRefusedEvenFromTheOwner() {
        assertViolates("owner", "account_not_negative", "update account set balance = -1 where kind = 'escrow'");
    }

    private void assertViolates(String role, String rule, String sql) {
        assertThatThrownBy(() -> books.executeAs(role, sql)).as(sql).hasMessageContaining(rule);
    }

    @Test
    void committedMeansOnDiskWhateverTheDatabasesDefaultIs() {
        assertThat(get(engine.engine().pool().query("show synchronous_commit").execute())
                        .iterator()
                        .next()
                        .getString(0))
                .isEqualTo("on");
        assertThat(books.strings("show synchronous_commit")).containsExactly("off");
    }

    @Test
    void manyMoveMoneyAtOnceWithoutADeadlock() {
        // Given
        long seed = System.nanoTime();
        System.out.println("LedgerIT seed " + seed);
        Random random = new Random(seed);
        IntStream.range(0, 10).forEach(i -> engine.deposit("m" + i, 10_000));

        // When
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            String user = "m" + random.nextInt(10);
            int amount = 1 + random.nextInt(500);
            switch (i % 3) {
                case 0 -> all.add(engine.engine().wallets.deposit(BACKEND, new UserId(user), CNY, amount, newKey()));
                case 1 -> all.add(engine.engine().wallets.withdraw(BACKEND, new UserId(user), CNY, amount, newKey()));
                default ->
                    all.add(engine.loop(i)
                            .call(services -> services.packets
                                    .send(member(user), lucky(amount, 1, HOUR), newKey())
                                    .onSuccess(packet ->
                                            services.claims.claim(member("m" + amount % 10), packet.id(), null))));
            }
        }

        // Then
        int refused = 0;
        for (Future<?> each : all) {
            try {
                get(each);
            } catch (RefusedException insufficient) {
                assertThat(insufficient.refusal()).isEqualTo(Refusal.INSUFFICIENT_FUNDS);
                refused++;
            }
        }
        assertThat(refused).as("seed " + seed).isLessThan(200);
        assertThat(books.longOf("select deadlocks from pg_stat_database where datname = current_database()"))
                .isZero();
    }

    @Test
    void movesThatWaitAreOneTransactionAndEachHasItsVerdict() {
        // Given
        Wallets wallets = engine.engine().wallets;
        Asset gold = new Asset("GOLD");
        engine.declare(gold);
        get(wallets.deposit(BACKEND, new UserId("ahead"), gold, 2, newKey()));

        // When a hundred deposits and withdrawals wait behind the first; a slow machine asks for them in some parts
        List<Future<WalletRecord>> in = IntStream.range(0, 101)
                .mapToObj(i -> wallets.deposit(BACKEND, new UserId("d" + i), gold, 7, newKey()))
                .toList();
        in.forEach(TestEngine::get);
        List<Future<WalletRecord>> out = IntStream.range(0, 101)
                .mapToObj(i -> wallets.withdraw(BACKEND, new UserId("d" + i), gold, i == 50 ? 8 : 7, newKey()))
                .toList();

        // Then
        for (int i = 0; i < out.size(); i++) {
            if (i == 50) {
                Future<WalletRecord> poor = out.get(i);
                assertRefused(Refusal.INSUFFICIENT_FUNDS, () -> get(poor));
            } else {
                assertThat(get(out.get(i)).amount()).isEqualTo(7);
            }
        }
        assertThat(books.longOf("select balance from account where owner = 'outside' and asset = 'GOLD'"))
                .isEqualTo(-9);
        assertThat(books.strings("select t.kind || ' ' || (count(distinct t.xmin::text) <= 20) || ' ' || min(c.actor)"
                        + " from transfer as t join account as w on w.id in (t.debit, t.credit) and w.owner like 'd%'"
                        + " join command as c on c.id = t.subject"
                        + " where w.asset = 'GOLD' group by t.kind order by t.kind"))
                .containsExactly("deposit true backend", "withdrawal true backend");
    }

    @Test
    void oneDepositBeyondTheRangeIsRefusedAlone() {
        // Given a source with room for 10
        Wallets wallets = engine.engine().wallets;
        Asset lead = new Asset("LEAD");
        engine.declare(lead);
        get(wallets.deposit(BACKEND, new UserId("ahead"), lead, 1, newKey()));
        long room = 9_000_000_000_000_000_000L - 11;
        books.execute("update account set balance = -" + room + " where owner = 'outside' and asset = 'LEAD';"
                + " update account set balance = " + room + " where owner = 'ahead' and asset = 'LEAD'");
        try {
            // When
            List<Future<WalletRecord>> all = Stream.of(1, 3, 90, 4)
                    .map(amount -> wallets.deposit(BACKEND, new UserId("lead" + amount), lead, amount, newKey()))
                    .toList();

            // Then
            Stream.of(0, 1, 3).forEach(i -> assertThat(get(all.get(i))).isNotNull());
            assertRefused(Refusal.BALANCE_LIMIT, () -> get(all.get(2)));
        } finally {
            books.execute("update account set balance = balance + " + (room - 1)
                    + " where owner = 'outside' and asset = 'LEAD'; update account set balance = balance - "
                    + (room - 1)
                    + " where owner = 'ahead' and asset = 'LEAD'");
        }
    }

    @Test
    void theSameKeyAtOnceMovesMoneyOnce() {
        // Given
        IdempotencyKey key = newKey();

        // When
        List<WalletRecord> entries = IntStream.range(0, 20)
                .mapToObj(i -> engine.engine().wallets.deposit(BACKEND, new UserId("ida"), CNY, 70, key))
                .toList()
                .stream()
                .map(TestEngine::get)
                .distinct()
                .toList();

        // Then
        assertThat(entries).hasSize(1);
        assertThat(engine.balance("ida")).isEqualTo(70);
        assertRefused(
                Refusal.IDEMPOTENCY_KEY_REUSED,
                () -> get(engine.engine().wallets.deposit(BACKEND, new UserId("ida"), CNY, 71, key)));
        assertThat(engine.balance("ida")).isEqualTo(70);
    }

    @Test
    void aRefusalDoesNotBindTheKey() {
        // Given
        IdempotencyKey key = newKey();
        SendCommand command = lucky(500, 5, HOUR);
        assertRefused(Refusal.INSUFFICIENT_FUNDS, () -> send("poor", command, key));
        assertThat(books.longOf("select count(*) from account where owner = 'poor'"))
                .isZero();

        // When
        engine.deposit("poor", 500);
        Packet packet = send("poor", command, key);

        // Then
        assertThat(send("poor", command, key).id()).isEqualTo(packet.id());
        assertThat(engine.balance("poor")).isZero();
    }

    private Packet send(String user, SendCommand command, IdempotencyKey key) {
        return get(engine.loop(0).call(services -> services.packets.send(member(user), command, key)));
    }

    /** An error of the first of two statements that were sent at once is told, not that it aborted the second. */
    private static void assertOutage(Future<?> failed, String sqlState) {
        assertThatThrownBy(() -> get(failed)).isInstanceOfSatisfying(PgException.class, fault -> {
            assertThat(fault.getSqlState()).isEqualTo(sqlState);
            assertThat(SqlState.isOutage(fault)).as("answered 503").isTrue();
        });
    }

    @Test
    void aFullDiskIsToldWhenAnAccountIsOpened() {
        try (RefusingServer full = RefusingServer.rows(books, "account", "true", "53100")) {
            assertOutage(
                    engine.engine().pool().withTransaction(tx -> Ledger.account(tx, AccountKind.WALLET, "zoe", CNY)),
                    "53100");
        }
    }

    @Test
    void aCancelledWaitForAnIdempotencyKeyIsTold() throws Exception {
        // Given a key that another transaction holds
        var scope = new Idempotency.Scope(new UserId("yan"), "draw", TestEngine.newKey(), "wish", TestEngine.BACKEND);
        try (Connection other = TestDatabase.begin(
                servers.postgresOwnerUrl(),
                "select pg_advisory_xact_lock(hashtextextended('yan draw "
                        + scope.key().value() + "', 0))")) {
            Future<Idempotency.Done<String>> waiting = new Idempotency(
                            engine.engine().pool())
                    .once(scope, tx -> Future.failedFuture("the key is held by another"));

            // When
            eventually(
                    Duration.ofSeconds(5),
                    () -> assertThat(cancelWaiting()).as("waits for the key").isPositive());

            // Then
            assertOutage(waiting, "57014");
        }
    }

    /** As the application's role, which may cancel its own. */
    private int cancelWaiting() throws Exception {
        try (Connection app = TestDatabase.connect(servers.postgresAppUrl());
                Statement statement = app.createStatement();
                var rows = statement.executeQuery("select pg_cancel_backend(pid) from pg_stat_activity"
                        + " where datname = current_database() and wait_event = 'advisory'")) {
            return rows.next() ? 1 : 0;
        }
    }
}
