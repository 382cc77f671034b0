package dev.hongbao.packet;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.Draw;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UnavailableException.Reason;
import io.vertx.core.Future;
import io.vertx.core.Promise;
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

/** Many times as many claims come as can be settled, on a Postgres that takes a millisecond for each. */
@ExtendWith(Servers.class)
class AdmissionIT {
    private static final int SHARES = 30_000;
    private static final int PULSE_MILLIS = 10;
    private static final int EACH_PULSE = 100;
    private static final int PULSES = 300;

    /** The rate is known well before. */
    private static final int OTHERS_FROM = 200;

    private static final double SECONDS_EACH = 0.001;

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

    /** Before the rate is known, it lets in as many as it settles in two seconds. */
    private TestEngine start() {
        Map<String, String> options = Map.of(
                "shards", "1",
                "http.event-loops", "1",
                "packet.max-count", Integer.toString(SHARES),
                "claim.max-waiting", "2000",
                "claim.settle-timeout", "4s");
        return TestEngine.start(servers, 1, options);
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

    /**
     * Claims by somebody else each, some every hundredth of a second; ends when all have their answer.
     *
     * @param others come at the end of each of the last pulses
     */
    private static Future<Void> crowd(TestEngine engine, Packet packet, Tally tally, Runnable others) {
        Promise<Void> made = Promise.promise();
        List<Future<ClaimOutcome>> answers = new ArrayList<>();
        TestEngine.Loop loop = engine.loop(0);
        loop.context()
                .runOnContext(now -> engine.vertx().setPeriodic(PULSE_MILLIS, timer -> {
                    for (int i = 0; i < EACH_PULSE; i++) {
                        String user = "u" + tally.offered.getAndIncrement();
                        Future<ClaimOutcome> answer =
                                loop.services().claims.claim(TestEngine.member(user), packet.id(), null);
                        boolean atOnce = answer.isComplete();
                        answers.add(answer.onComplete(done -> tally.ended(answer, atOnce)));
                    }
                    if (tally.offered.get() > EACH_PULSE * OTHERS_FROM) {
                        others.run();
                    }
                    if (tally.offered.get() >= EACH_PULSE * PULSES) {
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
            TestDraws draws = new TestDraws(engine);
            Draw draw = draws.create("{mode: weights, prizes: [{name: a, weight: 1}, {name: b, weight: 1}]}");
            Tally tally = new Tally();

            // When ten times as many come as can be settled, and others play in the same shard, or claim and wait for
            // nothing
            List<Future<?>> plays = new ArrayList<>();
            List<Future<?>> claims = new ArrayList<>();
            long begun = System.nanoTime();
            get(crowd(engine, packet, tally, () -> {
                String user = "other" + plays.size();
                plays.add(draws.play(0, draw, user, 1, TestEngine.newKey()));
                claims.add(engine.loop(0)
                        .call(services -> services.claims.accept(TestEngine.member(user), packet.id(), null)));
            }));
            double seconds = (System.nanoTime() - begun) / 1e9;
            double busy = tally.claimed.get() * SECONDS_EACH / seconds;
            System.out.println("writer busy " + busy + ", " + tally.claimed + " claimed, " + tally.refused
                    + " refused, " + tally.refusedLater + " of them later, after " + tally.waits);

            // Then each has a share, or was told at once to come again, and nobody waited in vain
            assertThat(new TreeSet<>(tally.wrong)).isEmpty();
            assertThat(tally.refusedLater).hasValue(0);
            // And the writer had enough to do all the time, also where other tests take the cores; AdmissionControlTest
            // is exact
            assertThat(busy).isGreaterThan(0.5);
            assertThat(tally.refused.get()).isGreaterThan(tally.claimed.get());
            // And they are not told to come again together
            assertThat(new TreeSet<>(tally.waits.keySet()))
                    .hasSizeGreaterThan(4)
                    .allMatch(wait -> wait >= 1 && wait <= 10);
            assertThat(tally.waits.values()).allMatch(part -> part < tally.refused.get() / 2);
            // And many of the others are refused as these are: those that do not come just after a settlement
            for (List<Future<?>> all : List.of(plays, claims)) {
                get(Future.join(all).otherwiseEmpty());
                assertThat(all.stream().filter(Future::failed))
                        .hasSizeGreaterThan(all.size() / 10)
                        .allMatch(other -> other.cause() instanceof UnavailableException refusal
                                && refusal.reason() == Reason.OVERLOADED);
            }

            // And everybody is let in again afterwards
            Eventually.eventually(
                    Duration.ofSeconds(20),
                    () -> assertThat(engine.claim(packet, "late").kind()).isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED));
            // And nothing is lost
            assertThat(books.longOf("select count(*) from claim where packet = '" + packet.id() + "'"))
                    .isEqualTo(tally.claimed.get()
                            + claims.stream().filter(Future::succeeded).count()
                            + 1);
        }
        books.assertClean();
    }
}
