package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Postgres goes back in time and Redis does not (invariant I13). */
class RestoredBackupIT {
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final Duration PATIENCE = Duration.ofSeconds(25);
    private static final Map<String, String> OPTIONS = Map.of("shards", "1");

    private TestServers servers;
    private Books books;

    @BeforeEach
    void start() {
        servers = Servers.fresh();
        books = new Books(servers);
    }

    @AfterEach
    void stop() {
        servers.close();
    }

    private TestEngine engine() {
        return TestEngine.start(servers, 1, OPTIONS);
    }

    private static void assertClaims(TestEngine engine, Packet packet, String user) {
        eventually(SOON, () -> assertThat(engine.claim(packet, user).kind()).isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED));
    }

    /** Sends a packet of five shares and claims the first; what follows is not in the backup. */
    private Packet backedUpAfterOneClaim() {
        Packet packet;
        try (TestEngine before = engine()) {
            before.deposit("alice", 10_000);
            packet = before.send("alice", 500, 5);
            assertThat(before.claim(packet, "u1").kind()).isEqualTo(Kind.CLAIMED);
        }
        servers.backUpPostgres();
        return packet;
    }

    private void assertDrainedByFive(Packet packet) {
        assertThat(books.strings("select slot from claim where packet = '" + packet.id() + "' order by slot"))
                .containsExactly("0", "1", "2", "3", "4");
        assertThat(books.strings("select sum(amount) from claim where packet = '" + packet.id() + "'"))
                .containsExactly("500");
        assertThat(books.longOf("select balance from account where kind = 'escrow' and owner = '" + packet.id() + "'"))
                .isZero();
        eventually(SOON, books::assertJournalsEmpty);
        books.assertReconciled();
    }

    @Test
    void whoeverClaimedAfterTheBackupClaimsAgainAndNothingIsStranded() {
        // Given
        Packet packet = backedUpAfterOneClaim();
        Packet lost;
        long epoch;
        try (TestEngine engine = engine()) {
            assertThat(engine.claim(packet, "u2").kind()).isEqualTo(Kind.CLAIMED);
            assertThat(engine.claim(packet, "u3").kind()).isEqualTo(Kind.CLAIMED);
            lost = engine.send("alice", 100, 5);
            epoch = books.sumOfEpochs();
        }

        // When
        servers.restorePostgres();

        // Then
        try (TestEngine engine = engine()) {
            IntStream.rangeClosed(2, 5).forEach(user -> assertClaims(engine, packet, "u" + user));
            assertThat(engine.claim(packet, "u6").kind()).isEqualTo(Kind.DRAINED);
            assertThat(engine.claim(lost, "u2").kind()).isEqualTo(Kind.NOT_FOUND);
            assertThat(books.sumOfEpochs()).isGreaterThan(epoch);
            assertDrainedByFive(packet);
        }
    }

    @Test
    void everyServerAtWorkDropsWhatItRemembersAndReadersWhoAreAheadAreTold() {
        // Given two servers; a packet that was drained, and one that was sent, after the backup
        Packet packet = backedUpAfterOneClaim();
        try (TestEngine owner = engine();
                TestEngine other = engine()) {
            for (TestEngine engine : List.of(owner, other)) {
                IntStream.rangeClosed(2, 5).forEach(user -> assertClaims(engine, packet, "u" + user));
                assertThat(engine.claim(packet, "u9").kind()).isEqualTo(Kind.DRAINED);
            }
            Packet lost = owner.send("alice", 100, 5);
            assertThat(other.claim(lost, "u1").kind()).isEqualTo(Kind.CLAIMED);
            long ahead = page(other, null, Duration.ZERO).next();
            eventually(
                    SOON,
                    () -> assertThat(page(other, null, Duration.ZERO).next()).isGreaterThan(3));
            Future<FeedPage> waiting = poll(other, ahead, PATIENCE);

            // When
            servers.restorePostgres();

            // Then who waits is told: events that came before are no answer, and who met the restart asks again, as
            // clients do
            FeedPage told = get(waiting.recover(away -> poll(other, ahead, PATIENCE)));
            for (int again = 0; again < 5 && told.reset() == null; again++) {
                long from = told.next();
                told = get(poll(other, from, PATIENCE).recover(away -> poll(other, from, PATIENCE)));
            }
            assertThat(told.reset()).isNotNull();
            for (TestEngine engine : List.of(other, owner)) {
                eventually(
                        SOON, () -> assertThat(engine.claim(lost, "u1").kind()).isEqualTo(Kind.NOT_FOUND));
                assertThat(page(engine, ahead, Duration.ZERO).reset()).isNotNull();
            }
            for (String user : List.of("u9", "u2", "u3", "u4")) {
                assertClaims(other, packet, user);
            }
            eventually(SOON, () -> assertThat(owner.claim(packet, "u5").kind()).isEqualTo(Kind.DRAINED));
            assertDrainedByFive(packet);

            // And also a reader who comes back when the feed has as many events again
            IntStream.range(0, 5).forEach(again -> owner.claim(owner.send("alice", 10, 1), "u1"));
            assertThat(page(other, ahead, Duration.ZERO).reset()).isNotNull();
        }
    }

    private static Future<FeedPage> poll(TestEngine engine, Long after, Duration wait) {
        return engine.loop(0)
                .call(services ->
                        services.feed.poll(member("bob"), GROUP, after, wait).page());
    }

    private static FeedPage page(TestEngine engine, Long after, Duration wait) {
        return get(poll(engine, after, wait));
    }

    @Test
    void whoFollowedAGroupThatWasNewAfterTheBackupIsTold() {
        // Given a backup without events
        engine().close();

        assertReaderIsToldAfterARestore();
    }

    @Test
    void whoFollowedAGroupWhoseEventsWereOldAtTheBackupIsTold() {
        // Given a backup of a group whose events are all removed
        try (TestEngine engine = engine()) {
            tellOfDrained(engine, 1);
        }
        books.execute("select feed_trim(interval '0', 1000, '0', 1000)");
        assertThat(books.longOf("select count(*) from group_event")).isZero();

        assertReaderIsToldAfterARestore();
    }

    private void assertReaderIsToldAfterARestore() {
        servers.backUpPostgres();
        long ahead;
        try (TestEngine engine = engine()) {
            ahead = tellOfDrained(engine, 1);
        }

        // When Postgres is restored, and more happens than before
        servers.restorePostgres();

        // Then it gets the current state, and a reader who comes before the first event misses nothing
        try (TestEngine engine = engine()) {
            tellOfDrained(engine, 3);
            assertThat(page(engine, ahead, Duration.ZERO).reset()).isNotNull();
            FeedPage page = page(engine, books.longOf("select feed_base from outbox_state"), Duration.ZERO);
            assertThat(page.reset()).isNull();
            assertThat(page.items().get(0).json()).contains("packet.sent");
        }
    }

    /** Drains packets. @return the group's place once all ends are told */
    private long tellOfDrained(TestEngine engine, int packets) {
        engine.deposit("alice", 100);
        String told = "select count(*) from group_event where type = 'packet.drained'";
        long before = books.longOf(told);
        for (int i = 0; i < packets; i++) {
            assertClaims(engine, engine.send("alice", 10, 1), "u1");
        }
        eventually(SOON, () -> assertThat(books.longOf(told)).isEqualTo(before + packets));
        return page(engine, null, Duration.ZERO).next();
    }

    /** The server hears of the new places before it hears that Postgres went back. */
    @Test
    void whoWaitsIsToldThatTheFeedBeganAnewThoughItOnlyJumped() {
        try (TestEngine engine = engine()) {
            // Given a reader who waits at the end of a feed
            engine.deposit("alice", 10);
            engine.claim(engine.send("alice", 10, 1), "u1");
            eventually(
                    SOON,
                    () -> assertThat(page(engine, null, Duration.ZERO).next()).isGreaterThan(1));
            long head = page(engine, null, Duration.ZERO).next();
            Future<FeedPage> waiting = poll(engine, head, PATIENCE);

            // When it jumps, and an event follows
            books.execute("select feeds_begin_anew()");
            engine.deposit("alice", 10);
            engine.send("alice", 10, 1);

            // Then what comes before the jump is an answer, too; and after it there is the reset
            FeedPage told = get(waiting);
            for (int again = 0; again < 5 && told.reset() == null; again++) {
                told = get(poll(engine, told.next(), PATIENCE));
            }
            assertThat(told.reset()).isNotNull();
        }
    }
}
