package dev.hongbao.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Play;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.UnavailableException;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * People who play a draw without a pause while something breaks. Whoever gets no clear answer asks again with the same key, as a
 * client should, and everybody remembers what was answered.
 */
public final class PlayCrowd {
    private static final int CHAINS = 40;

    private final Vertx vertx;
    private final TestDraws draws;
    private final Draw draw;
    private final Map<String, List<Play>> settled = new ConcurrentHashMap<>();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final AtomicInteger unknown = new AtomicInteger();
    private final AtomicInteger running = new AtomicInteger();
    private volatile boolean stopping;

    public PlayCrowd(TestEngine engine, TestDraws draws, Draw draw) {
        this.vertx = engine.vertx();
        this.draws = draws;
        this.draw = draw;
    }

    /** The name of a member; each needs money. */
    public static String user(int member) {
        return "player" + member % CHAINS;
    }

    public static int size() {
        return CHAINS;
    }

    public PlayCrowd start() {
        running.set(CHAINS);
        for (int i = 0; i < CHAINS; i++) {
            play(i, 0);
        }
        return this;
    }

    public void awaitSettled(int more) {
        int before = settled.size();
        Eventually.eventually(
                Duration.ofSeconds(20),
                () -> assertThat(settled.size()).as("settled requests").isGreaterThan(before + more));
    }

    /** Waits until everybody has a clear answer and stopped. */
    public void stop() {
        stopping = true;
        Eventually.eventually(
                Duration.ofSeconds(20),
                () -> assertThat(running.get()).as("still waiting").isZero());
    }

    /** Every answer was truthful: the settled plays are the answered ones, and nobody has any other. */
    public void assertAnswersKept() {
        System.out.printf("players: %d requests settled, %d unknown answers%n", settled.size(), unknown.get());
        assertThat(wrong).isEmpty();
        List<Play> answered = settled.values().stream()
                .flatMap(List::stream)
                .sorted(Comparator.comparing(Play::seq))
                .toList();
        assertThat(draws.plays(draw)).isEqualTo(answered);
    }

    private void play(int member, int request) {
        if (stopping) {
            running.decrementAndGet();
            return;
        }
        int plays = request % 7 == 0 ? 10 : 1;
        ask(member, request, plays, new IdempotencyKey("request-" + member + "-" + request));
    }

    private void ask(int member, int request, int plays, IdempotencyKey key) {
        draws.play(member, draw, user(member), plays, key).onComplete(done -> {
            if (done.succeeded() && done.result().plays().size() == plays) {
                settled.put(key.value(), done.result().plays());
                vertx.setTimer(1, later -> play(member, request + 1));
            } else if (done.cause() instanceof UnavailableException) {
                unknown.incrementAndGet();
                vertx.setTimer(20, later -> ask(member, request, plays, key));
            } else {
                wrong.add(key.value() + ": " + (done.succeeded() ? kind(done.result()) : done.cause()));
                running.decrementAndGet();
            }
        });
    }

    private static String kind(PlayOutcome outcome) {
        return outcome.kind() + " " + outcome.plays().size();
    }
}
