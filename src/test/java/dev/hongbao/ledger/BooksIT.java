package dev.hongbao.ledger;

import static dev.hongbao.testing.TestDraws.POINTS;
import static dev.hongbao.testing.TestEngine.BACKEND;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.hongbao.draw.Draw;
import dev.hongbao.ledger.Ledger.AccountKind;
import dev.hongbao.ledger.Ledger.TransferKind;
import dev.hongbao.ledger.Wallets.WalletRecord;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestServers;
import dev.hongbao.testing.TwoEngines;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Page;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.math.BigInteger;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The books of an hour's play are read in every way, and every way tells the same. */
class BooksIT extends TwoEngines {
    private static final List<String> USERS = List.of("ann", "bob", "cem", "dan");
    private static final Instant FAR = Instant.parse("8000-01-01T00:00:00Z");
    private static final Instant LONG_AGO = Instant.parse("2001-01-01T00:00:00Z");

    private Packet packet;

    @Override
    @BeforeAll
    protected void startBoth(TestServers given) {
        super.startBoth(given);
        long seed = System.nanoTime();
        Random random = new Random(seed);
        System.out.println("seed " + seed);
        TestDraws draws = new TestDraws(engine);
        TestCampaigns campaigns = new TestCampaigns(engine);
        USERS.forEach(user -> {
            engine.deposit(user, 10_000);
            draws.deposit(user, POINTS, 1_000);
        });
        draws.deposit("shop", POINTS, 10_000);
        Draw draw = draws.create("""
                {mode: table, cost: {asset: POINTS, amount: 10}, whenExhausted: repeat, prizes: [
                  {name: a, count: 1, stock: 50, award: {asset: POINTS, amount: 30}},
                  {name: b, count: 1, stock: 50, award: {asset: CNY, amount: 5}}, {name: c, count: 3}]}
                """);
        var campaign = campaigns.create(TestCampaigns.definition(5_000, 4));
        for (int i = 0; i < 60; i++) {
            String user = USERS.get(random.nextInt(USERS.size()));
            switch (random.nextInt(4)) {
                case 0 -> packet = engine.send(user, 100 + random.nextInt(50), 3);
                case 1 -> get(draws.play(0, draw, user, 1, newKey()));
                case 2 -> {
                    Packet pool = campaigns.open(campaign, user, "product-" + i);
                    engine.claim(pool, "bob");
                }
                default ->
                    get(engine.engine()
                            .wallets
                            .withdraw(BACKEND, new UserId(user), CNY, 1 + random.nextInt(20), newKey()));
            }
            if (packet != null) {
                engine.claim(packet, USERS.get(random.nextInt(USERS.size())));
            }
        }
        packet = engine.send("ann", 300, 2);
        engine.claim(packet, "bob");
        books.execute("alter table command disable trigger command_is_kept;"
                + " update command set reference = 'order-7' where id = '" + packet.id() + "';"
                + " alter table command enable trigger command_is_kept");
    }

    private static <T> List<T> all(Function<String, Future<Page<T>>> read) {
        List<T> all = new ArrayList<>();
        String cursor = null;
        do {
            Page<T> page = get(read.apply(cursor));
            all.addAll(page.items());
            cursor = page.next();
        } while (cursor != null);
        return all;
    }

    private List<TransferSearch.Booked> search(TransferSearch.Filter filter, int limit) {
        return all(cursor -> books().transfers(filter, cursor, limit));
    }

    private Set<Long> ids(String sql) {
        Set<Long> ids = new HashSet<>();
        books.strings(sql).forEach(id -> ids.add(Long.valueOf(id)));
        return ids;
    }

    private static long sum(List<WalletRecord> entries) {
        return entries.stream()
                .mapToLong(entry -> entry.credit() ? entry.amount() : -entry.amount())
                .sum();
    }

    private Books books() {
        return new Books(engine.engine().pool(), engine.engine().pool(), engine.engine().assets);
    }

    private Books.Statement statement(String user, Instant from, Instant to) {
        return get(books().statement(new UserId(user), CNY, from, to));
    }

    @Test
    void aStatementAddsUpWhereverItIsCutAndTheNextOneGoesOn() {
        for (String user : USERS) {
            Books.Statement whole = statement(user, LONG_AGO, FAR);
            assertThat(whole.opening()).isZero();
            assertThat(whole.closing()).isEqualTo(sum(whole.entries())).isEqualTo(engine.balance(user));
            assertThat(whole.entries())
                    .hasSameSizeAs(
                            search(new TransferSearch.Filter(null, new UserId(user), null, null, null), 200).stream()
                                    .filter(transfer -> transfer.move().asset().equals(CNY))
                                    .toList());

            // When it is cut at each of its times
            long before = 0;
            Instant from = LONG_AGO;
            for (Instant cut :
                    whole.entries().stream().map(WalletRecord::at).sorted().toList()) {
                if (from.isBefore(cut)) {
                    Books.Statement part = statement(user, from, cut);
                    assertThat(part.opening()).as("%s from %s", user, from).isEqualTo(before);
                    assertThat(part.closing()).isEqualTo(part.opening() + sum(part.entries()));
                    Instant begun = from;
                    assertThat(part.entries())
                            .allMatch(entry ->
                                    !entry.at().isBefore(begun) && entry.at().isBefore(cut));
                    before = part.closing();
                    from = cut;
                }
            }
            assertThat(statement(user, from, FAR).closing()).isEqualTo(engine.balance(user));
            assertThat(statement(user, FAR.minusSeconds(1), FAR).opening()).isEqualTo(engine.balance(user));
        }
        assertThat(statement("nobody", LONG_AGO, FAR)).isEqualTo(new Books.Statement(0, List.of(), 0));
        assertInvalid("query/to", () -> statement("ann", FAR, FAR));
    }

    /** Its time is before midnight, and the money that it took came after midnight. */
    @Test
    void aWithdrawalThatWaitedOverMidnightOpensNoStatementBelowZero(TestServers given) throws Exception {
        engine.deposit("mia", 1);
        try (Connection slow = TestDatabase.connect(given.postgresOwnerUrl());
                Statement withdrawal = slow.createStatement()) {
            // Given
            slow.setAutoCommit(false);
            withdrawal.execute("select now()");
            Instant midnight = engine.deposit("mia", 100).at();

            // When
            withdrawal.execute(
                    "select move_wallets('withdrawal', array[gen_random_uuid()], '{backend}', '{mia}', '{CNY}', '{101}',"
                            + " '{over-midnight}', '{x}', '{service}', '{null}', '{null}')");
            slow.commit();

            // Then
            assertThat(statement("mia", LONG_AGO, midnight).closing()).isEqualTo(1);
            Books.Statement day = statement("mia", midnight, FAR);
            assertThat(day.opening()).isEqualTo(1);
            assertThat(day.entries())
                    .extracting(WalletRecord::kind)
                    .containsExactly(TransferKind.DEPOSIT, TransferKind.WITHDRAWAL);
            assertThat(day.closing()).isZero();
        }
    }

    @Test
    void aStatementAddsUpWhileMoneyMoves() {
        List<Future<?>> moving = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            moving.add(engine.engine().wallets.deposit(BACKEND, new UserId("eve"), CNY, 7, newKey()));
            if (i % 20 == 0) {
                Books.Statement now = statement("eve", LONG_AGO, FAR);
                assertThat(now.opening()).isZero();
                assertThat(now.closing()).isEqualTo(7L * now.entries().size());
            }
        }
        moving.forEach(future -> get(future));
        assertThat(statement("eve", LONG_AGO, FAR).closing()).isEqualTo(1_400);
    }

    @Test
    void aStatementThatIsTooLongIsRefused() {
        books.execute("insert into account (kind, owner, asset) values ('wallet', 'busy', 'CNY');"
                + " insert into command (id, operation, actor, role, key)"
                + " select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'deposit', 'backend', 'service', 'many-' || n"
                + " from generate_series(1, 10001) as n;"
                + " insert into transfer (subject, debit, credit, amount, kind)"
                + " select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, s.id, w.id, 1, 'deposit'"
                + " from account as s, account as w, generate_series(1, 10001) as n"
                + " where s.kind = 'source' and s.asset = 'CNY' and w.owner = 'busy'");

        assertInvalid("query/from", () -> statement("busy", LONG_AGO, FAR));
        assertThat(statement("busy", FAR.minusSeconds(1), FAR).closing()).isEqualTo(10_001);
        // And a source of which many transfers are makes no search slow or wrong
        assertThat(search(new TransferSearch.Filter(null, new UserId("busy"), null, null, null), 200))
                .hasSize(10_001);
    }

    @Test
    void transfersAreFoundByReferenceUserAndTime() {
        // By reference: the send and all that followed from it
        assertThat(search(new TransferSearch.Filter("order-7", null, null, null, null), 1))
                .extracting(TransferSearch.Booked::id)
                .containsExactlyElementsOf(
                        ids("select id from transfer where subject = '" + packet.id() + "' order by id").stream()
                                .sorted()
                                .toList());
        assertThat(search(new TransferSearch.Filter("order-7", new UserId("bob"), null, null, null), 10))
                .hasSize(1)
                .allMatch(transfer -> transfer.move().credit().equals(new Command.Side(AccountKind.WALLET, "bob"))
                        && "order-7".equals(transfer.reference()));
        assertThat(search(new TransferSearch.Filter("no such", null, null, null, null), 10))
                .isEmpty();

        // By user and time
        String wallets = "(select id from account where kind = 'wallet' and owner = 'ann')";
        Set<Long> anns = ids("select id from transfer where debit in " + wallets + " or credit in " + wallets);
        for (int limit : new int[] {1, 7, 200}) {
            assertThat(search(new TransferSearch.Filter(null, new UserId("ann"), null, null, null), limit))
                    .extracting(TransferSearch.Booked::id)
                    .doesNotHaveDuplicates()
                    .isSorted()
                    .containsExactlyInAnyOrderElementsOf(anns);
        }
        // And of one kind, in each of the three orders
        for (TransferSearch.Filter filter : List.of(
                new TransferSearch.Filter("order-7", null, TransferKind.CLAIM, null, null),
                new TransferSearch.Filter(null, new UserId("ann"), TransferKind.CLAIM, null, null),
                new TransferSearch.Filter(null, null, TransferKind.CLAIM, LONG_AGO, null))) {
            List<TransferSearch.Booked> everything = search(
                    new TransferSearch.Filter(filter.reference(), filter.user(), null, filter.from(), null), 200);
            assertThat(search(filter, 2))
                    .isNotEmpty()
                    .containsExactlyElementsOf(everything.stream()
                            .filter(transfer -> transfer.kind() == TransferKind.CLAIM)
                            .toList());
        }
        Instant middle = OffsetDateTime.parse(
                        books.strings("select to_char(percentile_disc(0.5) within group (order by at)"
                                        + " at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') from transfer")
                                .get(0))
                .toInstant();
        List<TransferSearch.Booked> late =
                search(new TransferSearch.Filter(null, new UserId("ann"), null, middle, null), 3);
        List<TransferSearch.Booked> early =
                search(new TransferSearch.Filter(null, new UserId("ann"), null, null, middle), 3);
        assertThat(late).allMatch(transfer -> !transfer.at().isBefore(middle));
        assertThat(late.size() + early.size()).isEqualTo(anns.size());

        // By time alone
        for (int limit : new int[] {3, 200}) {
            assertThat(search(new TransferSearch.Filter(null, null, null, LONG_AGO, middle), limit))
                    .extracting(TransferSearch.Booked::id)
                    .doesNotHaveDuplicates()
                    .containsExactlyInAnyOrderElementsOf(ids("select id from transfer where at < '" + middle + "'"));
        }
        assertInvalid("query/from", () -> search(new TransferSearch.Filter(null, null, null, null, middle), 3));
        assertThatExceptionOfType(InvalidInputException.class)
                .isThrownBy(() ->
                        get(books().transfers(new TransferSearch.Filter("order-7", null, null, null, null), "u.1", 3)));
    }

    private static void assertInvalid(String pointer, ThrowingCallable call) {
        assertThatExceptionOfType(InvalidInputException.class)
                .isThrownBy(call)
                .satisfies(
                        invalid -> assertThat(invalid.faults().get(0).pointer()).isEqualTo(pointer));
    }

    /** A page's place is a transfer's id, which outgrows 32 bits. */
    @Test
    void aUsersTransfersGoOnAfterAnIdOfMoreThan32Bits() {
        var anns = new TransferSearch.Filter(null, new UserId("ann"), null, null, null);

        var page = get(books().transfers(anns, "u.3000000000", 3));

        assertThat(page.items()).isEmpty();
    }

    @Test
    void totalsAreTheSumsOfADaysTransfers() {
        LocalDate today = LocalDate.now(ZoneOffset.UTC);
        List<Books.DayTotal> totals = new ArrayList<>();
        get(books().totals(today.minusDays(2), today.plusDays(2), page -> {
            totals.addAll(page);
            return Future.succeededFuture();
        }));

        assertThat(totals).extracting(Books.DayTotal::kind).hasSizeGreaterThan(7);
        assertThat(totals.stream().map(Books.DayTotal::amount).reduce(BigInteger.ZERO, BigInteger::add))
                .isEqualTo(new BigInteger(
                        books.strings("select sum(amount) from transfer").get(0)));
        assertThat(totals.stream().mapToLong(Books.DayTotal::transfers).sum())
                .isEqualTo(books.longOf("select count(*) from transfer"));
        assertInvalid("query/to", () -> get(books().totals(today, today, page -> null)));
        assertInvalid("query/to", () -> get(books().totals(today, today.plusDays(367), page -> null)));
    }

    @Test
    void aClosedPacketIsOpenWhileItsRefundIsDue(TestServers given) throws Exception {
        // Given
        engine.deposit("held", 100);
        Packet packet = engine.send("held", 100, 2);
        try (Connection holder = TestDatabase.lockRows(given.postgresOwnerUrl(), "account where owner = 'held'")) {
            // When
            books.expire(packet);
            books.awaitClosed(packet);

            // Then
            assertThat(books.strings("select packet from refund_due")).hasSize(1);
            assertThat(holder.isClosed()).isFalse();
            whatIsOpenHoldsWhatAllEscrowsDo();
        }
    }

    @Test
    void whatIsOpenHoldsWhatAllEscrowsDo() {
        for (int limit : new int[] {1, 5, 200}) {
            List<Books.OpenItem> items = all(cursor -> books().openItems(cursor, limit));

            assertThat(items).extracting(Books.OpenItem::id).doesNotHaveDuplicates();
            assertThat(items).extracting(Books.OpenItem::kind).contains("packet", "draw", "campaign");
            for (String account : List.of("escrow", "hold")) {
                for (String asset : List.of("CNY", "POINTS")) {
                    assertThat(items.stream()
                                    .flatMap(item -> item.holds().stream())
                                    .filter(held -> held.account().equals(account)
                                            && held.asset().code().equals(asset))
                                    .mapToLong(Books.OpenItem.Held::amount)
                                    .sum())
                            .as("%s in %s", account, asset)
                            .isEqualTo(books.longOf("select coalesce(sum(balance), 0) from account where kind = '"
                                    + account + "' and asset = '" + asset + "'"));
                }
            }
        }
    }
}
