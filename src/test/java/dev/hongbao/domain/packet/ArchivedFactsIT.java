package dev.hongbao.domain.packet;

import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.common.values.Members;
import dev.hongbao.common.values.Page;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.books.Books;
import dev.hongbao.domain.books.TransferFilter;
import dev.hongbao.domain.campaign.CampaignId;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.fulfilment.Wins;
import dev.hongbao.domain.ledger.CommandBook;
import dev.hongbao.domain.ledger.WalletEntry;
import dev.hongbao.domain.reconcile.Check;
import dev.hongbao.domain.reconcile.Reconciliation;
import dev.hongbao.server.LoopServices;
import dev.hongbao.testing.PastBooks;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import io.vertx.core.Future;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nobody is told less than the truth about what was archived: each call by itself refuses, or says what it lacks; and each rule of the
 * reconciliation that passes over what was archived would else find a fault.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ArchivedFactsIT {
    private static final Pattern PASSED_OVER = Pattern.compile("not is_archived\\([a-z.]+\\)");
    private static final UserId BOB = new UserId("bob");

    @TempDir
    static Path folder;

    private PastBooks past;
    private TestEngine engine;
    private PacketId packet;
    private DrawId draw;
    private CampaignId campaign;
    private CampaignId rain;
    private UUID deposit;

    /** Beside what happened in the month: a claim of it was taken back afterwards. */
    @BeforeAll
    void aMonthThatWasArchived() throws Exception {
        past = new PastBooks();
        engine = past.engine();
        WalletEntry claim = get(engine.engine().wallets().transfers(BOB, null, 50)).items().stream()
                .filter(entry ->
                        past.past(past.drained).value().equals(entry.subject().packet()))
                .findFirst()
                .orElseThrow();
        past.reverse(engine, "bob", claim.id());
        past.settleDown();
        past.books.execute("select outbox_sweep(interval '0', 1000000, 1000)"); // of what was taken back, too
        deposit = UUID.fromString(past.books
                .strings("select id from command where operation = 'deposit' order by id")
                .get(0));
        assertThat(past.archive(folder).rows()).isPositive();
        packet = past.past(past.drained);
        draw = new DrawId(past.past.of(past.draw.id().value()));
        campaign = new CampaignId(past.past.of(past.campaign.campaign().id().value()));
        rain = new CampaignId(past.past.of(past.rain.rain().id().value()));
    }

    @AfterAll
    void stop() {
        engine.close();
        past.close();
    }

    private static <T> Function<T, Future<Void>> nowhere() {
        return page -> Future.succeededFuture();
    }

    @Test
    void eachCallAboutWhatWasArchivedIsRefused() {
        // Given
        PacketStore packets = new PacketStore(engine.engine().pool());
        Books books = engine.engine().accounting().books();
        CommandBook commands = engine.engine().accounting().trail().commands();
        Instant begins = past.month().atDay(1).atStartOfDay().toInstant(ZoneOffset.UTC);
        Map<String, Function<LoopServices, Future<?>>> calls = new LinkedHashMap<>();
        calls.put("packet", on -> on.packets().view(member("bob"), packet));
        calls.put("its claims", on -> on.packets().claims(member("bob"), packet, null, 10));
        calls.put("its file", on -> on.support().packets().find(packet));
        calls.put("the claim of a slot", on -> on.support().packets().claim(packet, 0));
        calls.put("progress", on -> packets.progress(packet));
        calls.put("a claim", on -> packets.claim(packet, BOB));
        calls.put("claims", on -> packets.claimsFrom(packet, 0, 10));
        calls.put("the luckiest", on -> packets.luckiest(packet));
        calls.put("winners", on -> packets.winners(packet));
        calls.put("summary", on -> on.packets().summaryOf(BOB, Period.ALL));
        calls.put("draw", on -> on.draws().view(TestDraws.SERVICE, draw));
        calls.put("plays", on -> on.draws().plays(member("bob"), draw, null, 10));
        calls.put("export of plays", on -> on.draws().export(TestDraws.SERVICE, draw, nowhere()));
        calls.put("a play", on -> on.support().draws().play(draw, 0));
        calls.put(
                "wins", on -> on.hosted().wins().list(TestDraws.SERVICE, draw, new Wins.Filter(null, null), null, 10));
        calls.put("a win", on -> on.hosted().wins().find(TestDraws.SERVICE, draw, 0));
        calls.put("play again", on -> on.plays().play(member("bob"), draw, 10, past.playKey));
        calls.put(
                "claim again",
                on -> on.claims().claim(member("bob"), packet, null).settled());
        calls.put("campaign's report", on -> on.campaigns().report(TestDraws.SERVICE, campaign, nowhere()));
        calls.put("rain", on -> on.rains().view(TestDraws.SERVICE, rain));
        calls.put("command", on -> commands.find(deposit));
        calls.put("statement", on -> books.statement(BOB, CNY, begins, Instant.now()));
        calls.put(
                "totals",
                on -> books.totals(past.month().atDay(15), past.month().atDay(16), nowhere()));

        // Then
        SoftAssertions all = new SoftAssertions();
        calls.forEach((name, call) -> all.assertThatThrownBy(
                        () -> get(engine.loop(0).call(on -> call.apply(on).mapEmpty())))
                .as(name)
                .isInstanceOfSatisfying(
                        RefusedException.class,
                        refused -> assertThat(refused.refusal()).as(name).isEqualTo(Refusal.ARCHIVED)));
        all.assertAll();
    }

    @Test
    void anExportOfItIsRefusedBeforeAnythingIsWritten() {
        // Given a draw with a schedule, which stays
        past.books.execute("insert into period (draw, n, starts_at, ends_at) values ('" + draw + "', 0, now(), now())");
        AtomicInteger pages = new AtomicInteger();

        // When
        assertThatThrownBy(() -> get(engine.loop(0)
                        .call(on -> on.draws().export(TestDraws.SERVICE, draw, page -> {
                            pages.incrementAndGet();
                            return Future.succeededFuture();
                        }))))
                .isInstanceOf(RefusedException.class);

        // Then
        assertThat(pages).hasValue(0);
    }

    @Test
    void eachListSaysUpToWhenItLacksWhatWasArchived() {
        // Given
        PacketFilter any = new PacketFilter(null, null, null, null, null);
        TransferFilter all = new TransferFilter(null, BOB, null, null);
        Map<String, Function<LoopServices, Future<? extends Page<?>>>> lists = new LinkedHashMap<>();
        lists.put("a wallet's transfers", on -> engine.engine().wallets().transfers(BOB, null, 50));
        lists.put("transfers", on -> engine.engine().accounting().books().transfers(all, null, 50));
        lists.put(
                "commands",
                on -> engine.engine().accounting().trail().commands().list(null, null, 50));
        lists.put("one's packets", on -> on.packets().ownOf(new UserId("ann"), Period.ALL, null, 50));
        lists.put("one's claims", on -> on.packets().claimsOf(BOB, Period.ALL, null, 50));
        lists.put("packets", on -> on.support().packets().list(any, null, 50));
        lists.put("a user's packets", on -> on.support().packets().ofUser(new UserId("ann"), null, 50));
        lists.put("a user's plays", on -> on.support().draws().playsOf(BOB, null, 50));
        lists.put("a host's rains", on -> on.rains().own(past.moon(), null, 50));

        // Then each says what it lacks, and what has lost its rows is not in it
        SoftAssertions soft = new SoftAssertions();
        lists.forEach((name, list) -> {
            Page<?> page = get(engine.loop(0).call(on -> list.apply(on).map(found -> (Page<?>) found)));
            soft.assertThat(page.archivedUntil()).as(name).isNotNull();
            if (!name.contains("transfers") && !name.equals("commands")) {
                soft.assertThat(page.items()).as(name).isEmpty();
            }
        });
        List<PacketView> newest = get(engine.loop(0)
                .call(on -> on.packets().newest(member("bob"), TestEngine.GROUP, Members.of(TestEngine.GROUP), 10)));
        soft.assertThat(newest).as("a group's newest packets").isEmpty();
        soft.assertAll();
    }

    /** Each passing-over is left out once, of rules that find nothing with it. */
    @Test
    void eachRuleFindsWhatWasArchivedUnlessItPassesOverIt() throws SQLException {
        try (Connection owner = TestDatabase.connect(past.servers.postgresOwnerUrl());
                Statement sql = owner.createStatement()) {
            owner.setAutoCommit(false);
            // A reversal whose command alone is archived: made by a server whose clock was behind at the end of a month
            sql.execute("alter table reversal disable trigger user");
            assertThat(
                            sql.executeUpdate(
                                    "update reversal set (subject, transfer) ="
                                            + " (select t.subject, t.id from transfer as t where t.kind = 'reversal' limit 1) where is_archived(command)"))
                    .isOne();
            SoftAssertions soft = new SoftAssertions();
            int passings = 0;
            for (Check check : Reconciliation.checks()) {
                if (check.sql().contains("is_archived(")) {
                    soft.assertThat(found(sql, check.sql())).as(check.name()).isEmpty();
                }
                Matcher passing = PASSED_OVER.matcher(check.sql());
                while (passing.find()) {
                    passings++;
                    String without = check.sql().substring(0, passing.start()) + "true"
                            + check.sql().substring(passing.end());
                    soft.assertThat(found(sql, without))
                            .as(check.name() + ", without " + passing.group() + " at " + passing.start())
                            .isNotEmpty();
                }
            }
            owner.rollback();
            soft.assertThat(passings).isPositive();
            soft.assertAll();
        }
    }

    private static List<String> found(Statement sql, String check) throws SQLException {
        List<String> lines = new ArrayList<>();
        try (var rows = sql.executeQuery(check)) {
            while (rows.next()) {
                lines.add(rows.getString(1));
            }
        }
        return lines;
    }
}
