package dev.hongbao.domain.claim;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.common.values.UnavailableException.Reason;
import dev.hongbao.domain.claim.ClaimOutcome.Kind;
import dev.hongbao.domain.draw.Draw;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** Many times as many claims come as can be settled, on a Postgres that takes a millisecond for each. */
@ExtendWith(Servers.class)
class AdmissionIT {
    private static final int SHARES = 30_000;
    private static final int PULSE_MILLIS = 10;
    private static final double SECONDS_EACH = 0.001;
    private static final Map<String, String> OPTIONS = Map.of(
            "shards", "1",
            "http.event-loops", "1",
            "packet.max-count", Integer.toString(SHARES),
            "claim.max-waiting", "2000",
            "claim.settle-timeout", "10s");

    /** Until the servers have measured what can be settled, and know of each other. */
    private static final Duration UNTIL_KNOWN = Duration.ofSeconds(3);

    /** In which their chances are compared: some hundreds are let in at the server to which least comes. */
    private static final Duration COMPARED = Duration.ofSeconds(6);

    private final TestServers servers;
    private final Books books;

    AdmissionIT(TestServers servers) {
        this.servers = servers;
        this.books = new Books(servers);
    }

    /** What became of the claims made at one engine. */
    private static final class Tally {
        final AtomicInteger offered = new AtomicInteger();
        final AtomicInteger claimed = new AtomicInteger();
        final AtomicInteger refused = new AtomicInteger();
        final AtomicInteger refusedLater = new AtomicInteger();
        final Map<Integer, Integer> waits = new ConcurrentHashMap<>();
        final Queue<String> wrong = new ConcurrentLinkedQueue<>();
        final Chance chance = new Chance();

        void ended(Future<ClaimOutcome> done, boolean atOnce) {
            if (done.succeeded() && done.result().kind() == Kind.CLAIMED) {
                claimed.incrementAndGet();
            } else if (done.failed()
                    && done.cause() instanceof UnavailableException refusal
                    && refusal.reason() == Reason.OVERLOADED) {
                (atOnce ? refused : refusedLater).incrementAndGet();
                waits.merge(refusal.retryAfterSeconds(), 1, Integer::sum);
            } else {
                wrong.add(done.toString());
            }
        }
    }

    /** What became of those that came in a while. */
    private static final class Chance {
        private final long fromNanos = System.nanoTime() + UNTIL_KNOWN.toNanos();
        private final AtomicInteger offered = new AtomicInteger();
        private final AtomicInteger refused = new AtomicInteger();

        void asked(boolean isRefused) {
            long since = System.nanoTime() - fromNanos;
            if (since >= 0 && since < COMPARED.toNanos()) {
                offered.incrementAndGet();
                refused.addAndGet(isRefused ? 1 : 0);
            }
        }

        double value() {
            return 1 - (double) refused.get() / offered.get();
        }
    }

    private TestEngine start() {
        return TestEngine.start(servers, 1, OPTIONS);
    }

    private Packet slowPacket(TestEngine engine) {
        engine.deposit("alice", 10_000_000);
        Packet packet = engine.send("alice", 1_000_000, SHARES);
        books.execute("create or replace function slowly() returns trigger language plpgsql as"
                + " $$ begin perform pg_sleep(" + SECONDS_EACH
                + " * (select count(*) from inserted)); return null; end $$");
        books.execute("create or replace trigger slowly after insert on transfer referencing new table as inserted"
                + " for each statement execute function slowly()");
        return packet;
    }

    /** Claims by somebody else each, some every hundredth of a second; ends when all have their answer. */
    private static Future<Void> crowd(
            TestEngine engine, Packet packet, String name, int eachPulse, int pulses, Tally tally) {
        Promise<Void> made = Promise.promise();
        List<Future<ClaimOutcome>> answers = new ArrayList<>();
        TestEngine.Loop loop = engine.loop(0);
        loop.context()
                .runOnContext(now -> engine.vertx().setPeriodic(PULSE_MILLIS, timer -> {
                    for (int i = 0; i < eachPulse; i++) {
                        String user = name + tally.offered.getAndIncrement();
                        Future<ClaimOutcome> answer = loop.services()
                                .claims()
                                .claim(TestEngine.member(user), packet.id(), null)
                                .settled();
                        boolean atOnce = answer.isComplete();
                        tally.chance.asked(atOnce && answer.failed());
                        answers.add(answer.onComplete(done -> tally.ended(answer, atOnce)));
                    }
                    if (tally.offered.get() >= eachPulse * pulses) {
                        engine.vertx().cancelTimer(timer);
                        Future.join(answers).onComplete(all -> made.complete());
                    }
                }));
        return made.future();
    }

    @Test
    void theExcessIsRefusedAtOnceAndWhoeverIsLetInIsSettledInTime() {
        try (TestEngine engine = start()) {
            Packet packet = slowPacket(engine);
            Tally tally = new Tally();

            // When ten times as many come as can be settled
            long begun = System.nanoTime();
            get(crowd(engine, packet, "u", 100, 500, tally));
            double seconds = (System.nanoTime() - begun) / 1e9;
            double busy = tally.claimed.get() * SECONDS_EACH / seconds;
            System.out.println("writer busy " + busy + ", " + tally.claimed + " claimed, " + tally.refused
                    + " refused, " + tally.refusedLater + " of them later, after " + tally.waits);

            // Then each has a share, or was told at once to come again, and nobody waited in vain
            assertThat(tally.wrong.size()).as("wrong").isZero();
            assertThat(tally.refusedLater).hasValue(0);
            // And the writer had enough to do all the time
            assertThat(busy).isGreaterThan(0.75);
            assertThat(tally.refused.get()).isGreaterThan(tally.claimed.get());
            // And they are not told to come again together
            assertThat(new TreeSet<>(tally.waits.keySet()))
                    .hasSizeGreaterThan(4)
                    .allMatch(wait -> wait >= 1 && wait <= 10);
            assertThat(tally.waits.values()).allMatch(part -> part < tally.refused.get() / 2);

            // And everybody is let in again afterwards
            Eventually.eventually(
                    Duration.ofSeconds(20),
                    () -> assertThat(engine.claim(packet, "late").kind()).isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED));
            Eventually.eventually(
                    Duration.ofSeconds(20),
                    () -> assertThat(engine.metrics()
                                    .get("hongbao.admission.chance")
                                    .gauge()
                                    .value())
                            .isEqualTo(1));
            // And nothing is lost
            assertThat(books.longOf("select count(*) from claim where packet = '" + packet.id() + "'"))
                    .isEqualTo(tally.claimed.get() + 1);
        }
        books.assertClean();
    }

    @Test
    void playsAndClaimsThatDoNotWaitHaveTheSameChance() {
        try (TestEngine engine = start()) {
            // Given ten times as many claims as can be settled, for some seconds
            Packet packet = slowPacket(engine);
            TestDraws draws = new TestDraws(engine);
            Draw draw = draws.create("{mode: weights, prizes: [{name: a, weight: 1}, {name: b, weight: 1}]}");
            Tally tally = new Tally();
            Future<Void> crowd = crowd(engine, packet, "u", 100, 700, tally);

            // When others play in the same shard, or claim and wait for nothing, at ten moments: the chance of one is
            // that of the moment
            List<Future<?>> plays = new ArrayList<>();
            List<Future<?>> claims = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                int offered = 40_000 + i / 30 * 2_000;
                Eventually.eventually(
                        Duration.ofSeconds(20),
                        () -> assertThat(tally.offered.get()).isGreaterThan(offered));
                String user = "other" + i;
                plays.add(draws.play(0, draw, user, 1, TestEngine.newKey()));
                claims.add(engine.loop(0)
                        .call(services -> services.claims().accept(TestEngine.member(user), packet.id(), null)));
            }

            // Then most are refused as the others are, and some are not
            for (List<Future<?>> all : List.of(plays, claims)) {
                get(Future.join(all).otherwiseEmpty());
                assertThat(all.stream().filter(Future::failed))
                        .hasSizeBetween(150, 299)
                        .allMatch(other -> other.cause() instanceof UnavailableException refusal
                                && refusal.reason() == Reason.OVERLOADED);
            }
            get(crowd);
            assertThat(tally.wrong.size()).as("wrong").isZero();
        }
        books.assertClean();
    }

    @Test
    void twoServersGiveTheSameChanceHoweverTheLoadFallsAndAloneGoOn() {
        try (TestEngine one = start();
                TestEngine two = start()) {
            Packet packet = slowPacket(one);
            // When nine tenths come to one of them, then the chances are the same. On a machine that stood still
            // meanwhile
            // the servers may not have heard of each other: it is looked at again
            double ratio = 0;
            for (int look = 0; look < 3 && Math.abs(ratio - 1) > 0.1; look++) {
                Tally ones = new Tally();
                Tally twos = new Tally();
                Future<Void> most = crowd(one, packet, look + "one", 90, 900, ones);
                get(crowd(two, packet, look + "two", 10, 900, twos));
                get(most);
                System.out.printf(
                        "chances %.4f of %s and %.4f of %s%n",
                        ones.chance.value(), ones.chance.offered, twos.chance.value(), twos.chance.offered);
                ratio = twos.chance.value() / ones.chance.value();
                assertThat(ones.wrong.size()).as("wrong").isZero();
                assertThat(twos.wrong.size()).as("wrong").isZero();
                assertThat(ones.refused.get()).isGreaterThan(ones.claimed.get());
                assertThat(twos.refused.get()).isGreaterThan(twos.claimed.get());
            }
            assertThat(ratio).isBetween(0.9, 1.1);

            // When they cannot hear of each other
            Packet next = one.send("alice", 1_000_000, SHARES);
            try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
                String key = "hongbao:" + one.engine().namespace() + ":admission";
                redis.set(key, "nothing that can be read");
                Tally alone = new Tally();
                Tally aloneToo = new Tally();
                Future<Void> most = crowd(one, next, "alone", 90, 200, alone);
                get(crowd(two, next, "too", 10, 200, aloneToo));
                get(most);

                // Then each lets in what is settled of its own
                assertThat(redis.get(key)).isNotNull();
                for (Tally tally : List.of(alone, aloneToo)) {
                    assertThat(tally.wrong.size()).as("wrong").isZero();
                    assertThat(tally.claimed.get()).isPositive();
                }
                assertThat(alone.refused.get()).isGreaterThan(alone.claimed.get());
                redis.del(key);
            }
        }
        books.assertClean();
    }
}
