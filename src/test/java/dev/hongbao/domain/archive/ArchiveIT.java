package dev.hongbao.domain.archive;

import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.common.values.Page;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.books.Statement;
import dev.hongbao.domain.campaign.CampaignId;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.ledger.WalletEntry;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.domain.packet.PacketService;
import dev.hongbao.domain.packet.Period;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.PastBooks;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestRains;
import io.vertx.core.Future;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A month that was put away: what is left tells the truth, and nothing of it comes again. */
class ArchiveIT {
    @TempDir
    Path folder;

    private PastBooks past;

    @BeforeEach
    void aMonthThatIsOver() {
        past = new PastBooks().settleDown();
    }

    @AfterEach
    void stop() {
        past.close();
    }

    private void assertVerified() throws Exception {
        try (Archiver archiver = past.archiver(folder)) {
            assertThat(archiver.verify()).isEmpty();
        }
    }

    @Test
    void theBooksAddUpBeforeAndAfterAndTheFilesHoldAllRows() throws Exception {
        // Given
        String balances = past.balances();
        List<String> rows = past.rows();
        assertThat(past.books.audited()).isEmpty();
        assertThat(rows).noneMatch(count -> count.endsWith(" 0"));

        // When
        Archiver.Archived archived = past.archive(folder);

        // Then
        assertThat(archived.rows()).isPositive();
        assertThat(past.rows()).containsExactly("transfer 0", "packet_amounts 0", "play 0");
        assertThat(past.balances()).isEqualTo(balances);
        assertThat(past.books.audited()).isEmpty();
        past.reconcile();
        assertVerified();
        Manifest manifest = Manifest.of(Files.readAllBytes(folder.resolve(Manifest.fileName(past.month()))));
        assertThat(manifest.parts().stream().map(part -> part.table() + " " + part.rows()))
                .containsExactlyInAnyOrderElementsOf(rows);

        // And again is nothing
        assertThat(past.archive(folder).wasBefore()).isTrue();
        assertThat(past.archive(folder).manifest()).isEqualTo(archived.manifest());
    }

    @Test
    void whatWasArchivedIsRefusedPlainlyAndNothingIsPaidTwice() throws Exception {
        // Given
        past.archive(folder);
        String balances = past.balances();

        try (TestEngine engine = past.engine()) {
            // When what was claimed and played is tried again, and what was not
            for (String user : List.of("bob", "eve")) {
                archived(() -> get(engine.claim(0, member(user), past.past(past.drained))));
                archived(() -> get(engine.claim(0, member(user), past.past(past.refunded))));
            }
            DrawId draw = new DrawId(past.past.of(past.draw.id().value()));
            archived(() ->
                    get(engine.loop(0).call(services -> services.plays().play(member("bob"), draw, 10, past.playKey))));

            // Then nothing is paid, and who asks is told
            assertThat(past.balances()).isEqualTo(balances);
            CampaignId campaign =
                    new CampaignId(past.past.of(past.campaign.campaign().id().value()));
            CampaignId rain = new CampaignId(past.past.of(past.rain.rain().id().value()));
            archived(() -> get(
                    engine.loop(0).call(services -> services.packets().view(member("bob"), past.past(past.drained)))));
            archived(() -> get(engine.loop(0)
                    .call(services -> services.packets().claims(member("bob"), past.past(past.drained), null, 10))));
            archived(() -> get(engine.loop(0).call(services -> services.draws().view(TestDraws.SERVICE, draw))));
            archived(() -> get(engine.loop(0)
                    .call(services ->
                            services.draws().export(TestDraws.SERVICE, draw, page -> Future.succeededFuture()))));
            archived(() -> get(engine.loop(0)
                    .call(services -> services.campaigns()
                            .report(TestDraws.SERVICE, campaign, page -> Future.succeededFuture()))));
            archived(() -> new TestRains(engine).view(rain));
            archived(() ->
                    get(engine.loop(0).call(services -> services.packets().summaryOf(new UserId("bob"), Period.ALL))));
            archived(() -> statement(engine, "bob", Instant.EPOCH));

            // And lists say what they lack, and balances lack nothing
            Page<WalletEntry> transfers = get(engine.engine().wallets().transfers(new UserId("bob"), null, 50));
            assertThat(transfers.items()).isEmpty();
            assertThat(transfers.archivedUntil()).isNotNull();
            Page<PacketService.OwnClaim> claims = get(engine.loop(0)
                    .call(services -> services.packets().claimsOf(new UserId("bob"), Period.ALL, null, 50)));
            assertThat(claims.items()).isEmpty();
            assertThat(claims.archivedUntil()).isNotNull();
            Instant later = Instant.now().minusSeconds(86_400);
            assertThat(statement(engine, "bob", later).opening()).isEqualTo(engine.balance("bob"));
            past.books.assertReconciled();
        }
    }

    private static Statement statement(TestEngine engine, String user, Instant from) {
        return get(engine.engine()
                .accounting()
                .books()
                .statement(new UserId(user), CNY, from, Instant.now().plusSeconds(60)));
    }

    private static void archived(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        RefusedException.class,
                        refused -> assertThat(refused.refusal()).isEqualTo(Refusal.ARCHIVED));
    }

    @Test
    void noRowOfTheMonthComesAgain() throws Exception {
        // Given
        past.archive(folder);
        UUID packet = past.past(past.drained).value();

        // Then
        refuses(
                "insert into transfer (subject, debit, credit, amount, kind, slot) select '" + packet
                        + "', p.escrow, p.refund_to, 1, 'claim', 0 from packet as p where p.id = '" + packet + "'",
                "transfer_" + past.month().toString().replace('-', '_') + "_is_archived");
        refuses(
                "insert into packet_amounts values ('"
                        + past.past.of(UUID.fromString("01ffffff-0000-7000-8000-000000000000")) + "', 0, '{1}'), ('"
                        + new UUID(packet.getMostSignificantBits(), 1) + "', 0, '{1}')",
                "packet_amounts_" + past.month().toString().replace('-', '_') + "_is_archived");
        refuses("select make_month('transfer', '" + past.month().atDay(1) + "')", "is archived");
        assertThat(past.books.strings(
                        "select parent from missing_months('" + past.month().atDay(20) + " 00:00 UTC')"
                                + " where month = '" + past.month().atDay(1) + "'"))
                .isEmpty();
        refuses("update archive_opening set balance = balance + 1", "app", "permission denied");
        refuses("delete from archive_month", "app", "permission denied");
    }

    private void refuses(String sql, String why) {
        refuses(sql, "owner", why);
    }

    private void refuses(String sql, String role, String why) {
        assertThatThrownBy(() -> past.books.executeAs(role, sql)).hasMessageContaining(why);
    }

    /** What pointed to the month stays, and nothing new points to what is not there. */
    @Test
    void whatPointsToARowOutlastsIt() throws Exception {
        // Given
        String pointers =
                "select count(*) from (select command from reversal union all select command from budget_raise"
                        + " union all select draw from fulfilment) as p";
        long before = past.books.longOf(pointers);

        // When
        past.archive(folder);

        // Then
        assertThat(before).isGreaterThanOrEqualTo(3);
        assertThat(past.books.longOf(pointers)).isEqualTo(before);
        refuses(
                "insert into reversal (command, subject, transfer) select gen_random_uuid(), subject, transfer + 1 from reversal",
                "reversal_has_transfer");
        refuses(
                "insert into budget_raise (campaign, transfer, command) select campaign, transfer + 1, gen_random_uuid() from budget_raise",
                "budget_raise_has_transfer");
        refuses(
                "insert into fulfilment (draw, seq, n, state, actor) select draw, seq, 2, 'pending', 'x' from fulfilment",
                "fulfilment_has_play");
    }

    /** What is written must be what is dropped. */
    @Test
    void rowsThatWereNotWrittenAreNotDropped() throws Exception {
        List<String> rows = past.rows();
        try (Archiver archiver = past.archiver(folder)) {
            archiver.seal(past.month());
            Manifest manifest = archiver.write(past.month());
            List<Manifest.Part> one = manifest.parts().stream()
                    .map(part -> part.table().equals("play")
                            ? new Manifest.Part("play", part.rows() - 1, part.text(), part.file())
                            : part)
                    .toList();

            assertThatThrownBy(() -> archiver.finish(new Manifest(
                            manifest.month(), manifest.origin(), manifest.previous(), one, manifest.sums())))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            fault -> assertThat(fault.getSQLState()).isEqualTo("HB006"));
        }
        assertThat(past.rows()).isEqualTo(rows);
    }

    @Test
    void sendsAndClaimsGoOnAfterAMonthIsArchived() throws Exception {
        // Given
        past.archive(folder);

        try (TestEngine engine = past.engine()) {
            // When
            long before = engine.balance("bob");
            engine.deposit("ann", 100);
            Packet packet = engine.send("ann", 100, 1);
            engine.claim(packet, "bob");

            // Then
            assertThat(engine.balance("bob")).isEqualTo(before + 100);
            past.books.assertReconciled();
            past.reconcile();
        }
        assertVerified();
    }

    @Test
    void aRunThatIsStoppedLeavesAllOfTheMonthAndTheNextOneGoesOn() throws Exception {
        List<String> rows = past.rows();
        String balances = past.balances();

        // When it is stopped once the month is sealed
        try (Archiver archiver = past.archiver(folder)) {
            archiver.seal(past.month());
        }
        // Then
        assertWhole(rows, balances);

        // When it is stopped once the files are written
        byte[] first;
        try (Archiver archiver = past.archiver(folder)) {
            first = archiver.write(past.month()).toBytes();
        }
        // Then
        assertWhole(rows, balances);

        // When it loses its connection while it drops the parts, since somebody reads the last one
        try (Connection reader = TestDatabase.connect(past.servers.postgresOwnerUrl());
                Archiver archiver = past.archiver(folder)) {
            reader.setAutoCommit(false);
            reader.createStatement().execute("lock table transfer in access share mode");
            Manifest manifest = archiver.write(past.month());
            assertThat(manifest.toBytes()).isEqualTo(first);
            Thread dropping = new Thread(
                    () -> past.books.strings(
                            "select pg_sleep(1), pg_terminate_backend(pid)"
                                    + " from pg_stat_activity where application_name = 'hongbao archive' and datname = current_database()"));
            dropping.start();
            assertThatThrownBy(() -> archiver.finish(manifest)).isInstanceOf(SQLException.class);
            dropping.join();
        }
        // Then
        assertWhole(rows, balances);

        // And the next one ends it
        assertThat(past.archive(folder).wasBefore()).isFalse();
        assertThat(past.balances()).isEqualTo(balances);
        assertThat(past.books.audited()).isEmpty();
        assertVerified();
    }

    private void assertWhole(List<String> rows, String balances) {
        assertThat(past.rows()).isEqualTo(rows);
        assertThat(past.balances()).isEqualTo(balances);
        assertThat(past.books.strings("select account from archive_opening")).isEmpty();
        assertThat(past.books.audited()).isEmpty();
    }

    @Test
    void whoReadsForLongDelaysItAndHoldsUpNobody() throws Exception {
        try (Connection reader = TestDatabase.connect(past.servers.postgresOwnerUrl());
                Archiver archiver = past.archiver(folder)) {
            archiver.seal(past.month());
            Manifest manifest = archiver.write(past.month());
            reader.setAutoCommit(false);
            reader.createStatement().execute("lock table transfer in access share mode");

            // When
            CompletableFuture<Archiver.Archived> archived = CompletableFuture.supplyAsync(() -> {
                try {
                    return archiver.finish(manifest);
                } catch (SQLException fault) {
                    throw new IllegalStateException(fault);
                }
            });
            for (int i = 0; i < 10; i++) {
                past.books.execute("set statement_timeout = '1s'; select count(*) from transfer");
            }
            // As long as a transaction has an id, the news of who writes after it is not told: so it has one for
            // moments only.
            for (String has : List.of("is not null", "is null")) {
                Eventually.eventually(
                        Duration.ofSeconds(20),
                        () -> assertThat(past.books.longOf("select count(*) from pg_stat_activity"
                                        + " where application_name = 'hongbao archive' and backend_xid " + has))
                                .as(has)
                                .isEqualTo(1));
            }
            assertThat(archived).isNotDone();
            reader.rollback();

            // Then
            assertThat(archived.get(30, TimeUnit.SECONDS).rows()).isPositive();
        }
        assertVerified();
    }

    /** It has written a page of the plays, and asks for the next one. */
    @Test
    void anExportThatAMonthGoesUnderDoesNotEndAsIfItHadAll() {
        try (TestEngine engine = past.engine()) {
            DrawId draw = new DrawId(past.past.of(past.draw.id().value()));

            archived(() -> get(engine.loop(0)
                    .call(services -> services.draws()
                            .export(
                                    TestDraws.SERVICE,
                                    draw,
                                    page -> engine.vertx()
                                            .executeBlocking(() -> past.archive(folder))
                                            .mapEmpty()))));
            assertThat(past.rows()).contains("play 0");
        }
    }

    /** Else it could see the rows gone, and not the openings. */
    @Test
    void aReconciliationKeepsTheMonthBeforeItReads() throws Exception {
        for (boolean sinceCheckpoint : List.of(true, false)) {
            CompletableFuture<Void> run;
            try (Connection holder = TestDatabase.lock(past.servers.postgresOwnerUrl(), "play");
                    Connection app = TestDatabase.connect(past.servers.postgresAppUrl())) {
                run = CompletableFuture.runAsync(() -> {
                    if (sinceCheckpoint) {
                        past.reconcile();
                    } else {
                        past.books.assertReconciled();
                    }
                });
                Eventually.eventually(Duration.ofSeconds(20), () -> {
                    try (ResultSet waiting = app.createStatement()
                            .executeQuery(
                                    "select count(*) from pg_stat_activity where datname = current_database()"
                                            + " and wait_event_type = 'Lock' and query like '%packet_amounts, play in access share mode%'")) {
                        waiting.next();
                        assertThat(waiting.getInt(1)).isEqualTo(1);
                    } catch (SQLException fault) {
                        throw new IllegalStateException(fault);
                    }
                });
                holder.rollback();
            }
            run.get(60, TimeUnit.SECONDS);
        }
    }

    @Test
    void aSealedMonthTakesNoRow() throws Exception {
        try (Archiver archiver = past.archiver(folder)) {
            archiver.seal(past.month());
        }

        refuses(
                "insert into transfer (subject, debit, credit, amount, kind) select '" + past.past(past.drained)
                        + "', p.refund_to, p.escrow, 1, 'refund' from packet as p limit 1",
                "_is_sealed");
    }
}
