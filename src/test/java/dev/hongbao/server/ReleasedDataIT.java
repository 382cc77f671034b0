package dev.hongbao.server;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.lucky;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.common.values.Release;
import dev.hongbao.domain.claim.ClaimOutcome.Kind;
import dev.hongbao.domain.draw.Draw;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.SavedData;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

/**
 * This version starts on what each released one, and the candidate of the first, has left: open packets, draws and campaigns, and journals that are not settled. Run with
 * {@code -Dreleased=write}, it first writes what this version leaves; only for a version that is not released.
 */
@ExtendWith(Servers.class)
class ReleasedDataIT {
    private static final Path FOLDER = Path.of("src/test/resources/released-data");
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Map<String, String> OPTIONS = Map.of("shards", "2");
    private static final int UNSETTLED = 10;

    /** The packet that stays open, in whatever year. */
    private static final String OPEN =
            "select id from packet where sender = 'alice' and closed_at is null and count = 50";

    @BeforeAll
    static void write(TestServers servers) {
        if (!"write".equals(System.getProperty("released"))) {
            return;
        }
        try (TestEngine engine = TestEngine.start(servers, 1, OPTIONS)) {
            live(engine, new Books(servers));
            SavedData.write(servers, FOLDER.resolve(Release.THIS.version() + ".gz"));
        }
        empty(servers);
    }

    private static void empty(TestServers servers) {
        new Books(servers).execute("drop schema public cascade; create schema public");
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.flushAll();
            redis.scriptFlush();
        }
    }

    /** A little of everything, and at the end claims that are accepted and not settled. */
    private static void live(TestEngine engine, Books books) {
        engine.deposit("alice", 100_000);
        Packet drained = engine.send("alice", 300, 3);
        Stream.of("bob", "carol", "dave").forEach(user -> engine.claim(drained, user));
        Packet expired = engine.send("alice", 500, 5);
        engine.claim(expired, "bob");
        books.expire(expired);
        books.awaitClosed(expired);
        Packet open = engine.send("alice", lucky(5_000, 50, Duration.ofHours(1)));
        engine.claim(open, "bob");
        TestDraws draws = new TestDraws(engine);
        draws.deposit("shop", TestDraws.POINTS, 10_000);
        draws.deposit("bob", TestDraws.POINTS, 100);
        Draw draw = draws.create("""
                mode: table
                cost: {asset: POINTS, amount: 10}
                prizes:
                  - {name: gold, count: 5, award: {asset: POINTS, amount: 100}}
                  - {name: thanks, count: 15}
                """);
        for (int i = 0; i < 3; i++) {
            get(draws.play(0, draw, "bob"));
        }
        TestCampaigns campaigns = new TestCampaigns(engine);
        engine.deposit("shop", 10_000);
        campaigns.create(TestCampaigns.limited(1_000, 5, 3, 0, 0));
        books.execute("update packet set expires_at = '2099-01-01' where closed_at is null");
        books.execute("update draw set closes_at = '2099-01-01'");
        books.execute("update campaign set ends_at = '2099-01-01'");
        get(engine.engine().stopWriter());
        for (int i = 0; i < UNSETTLED; i++) {
            String user = "late-" + i;
            assertThat(get(engine.loop(0).call(services -> services.claims().accept(member(user), open.id(), null)))
                            .kind())
                    .isEqualTo(Kind.ACCEPTED);
        }
    }

    static List<Path> released() throws IOException {
        return SavedData.released(FOLDER);
    }

    @ParameterizedTest
    @MethodSource("released")
    void itGoesOnWhereAReleasedVersionHasStopped(Path file) {
        try (TestServers empty = Servers.fresh()) {
            goesOn(file, empty);
        }
    }

    private static void goesOn(Path file, TestServers servers) {
        // Given the stores of a released version, which has stopped in the middle
        SavedData.load(servers, file);
        Books books = new Books(servers);
        PacketId open = new PacketId(UUID.fromString(books.strings(OPEN).get(0)));
        long settled = books.longOf("select count(*) from claim");

        // When
        try (TestEngine engine = TestEngine.start(servers, 1, OPTIONS)) {
            // Then what it had accepted is settled, and its packets and draws go on
            eventually(
                    SOON,
                    () -> assertThat(books.longOf("select count(*) from claim")).isEqualTo(settled + UNSETTLED));
            assertThat(get(engine.claim(0, member("late-3"), open))
                            .wonClaim()
                            .share()
                            .slot())
                    .isEqualTo(4);
            assertThat(get(engine.claim(0, member("newcomer"), open))
                            .wonClaim()
                            .share()
                            .slot())
                    .isEqualTo(UNSETTLED + 1);
            assertThat(engine.send("alice", 100, 10).count()).isEqualTo(10);
            eventually(SOON, books::assertNothingDue);
            eventually(SOON, books::assertJournalsEmpty);
        }
        books.assertReconciled();
        empty(servers);
    }
}
