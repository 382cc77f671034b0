package dev.hongbao.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Packet;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.UnavailableException;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * People who send and claim while something breaks, a thousand times a second or two, and who remember every answer: a claim that
 * was answered as settled must stay what it was.
 */
public final class Crowd {
    private static final int USERS = 400;
    private static final int CHAINS = 48;
    private static final int SHARES = 40;
    private static final int RECENT = 12;

    private final long seed = Long.getLong("hongbao.test.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final List<TestEngine> engines;
    private final List<Packet> packets = new CopyOnWriteArrayList<>();
    private final Map<String, Claim> settled = new ConcurrentHashMap<>();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final AtomicInteger answers = new AtomicInteger();
    private final AtomicInteger unknown = new AtomicInteger();
    private final AtomicInteger running = new AtomicInteger();
    private volatile boolean stopping;

    public Crowd(TestEngine... engines) {
        this.engines = List.of(engines);
    }

    /** Begins; {@code sender} must have enough money. */
    public Crowd start(String sender) {
        running.set(CHAINS + 1);
        send(sender);
        for (int i = 0; i < CHAINS; i++) {
            claim(i);
        }
        return this;
    }

    /** Waits until this many more claims were answered as settled. */
    public void awaitSettled(int more) {
        int before = settled.size();
        Eventually.eventually(
                Duration.ofSeconds(15),
                () -> assertThat(settled.size()).as("settled answers").isGreaterThan(before + more));
    }

    /** Waits until everybody has an answer and stopped: nobody may hang. */
    public void stop() {
        stopping = true;
        Eventually.eventually(
                Duration.ofSeconds(12),
                () -> assertThat(running.get()).as("still waiting").isZero());
    }

    /** Answers that left the outcome open. */
    public int unknownAnswers() {
        return unknown.get();
    }

    /** Every answer was truthful, and still is. */
    public void assertAnswersKept(TestServers servers) {
        System.out.printf(
                "crowd with seed %d: %d packets, %d answers, %d settled, %d unknown%n",
                seed, packets.size(), answers.get(), settled.size(), unknown.get());
        assertThat(wrong).isEmpty();
        Set<String> kept = Set.copyOf(new Books(servers)
                .strings("select packet || ' ' || user_id || ' ' || slot || ' ' || amount from claim"));
        assertThat(kept)
                .containsAll(settled.entrySet().stream()
                        .map(won -> won.getKey() + " " + won.getValue().slot() + " "
                                + won.getValue().amount())
                        .toList());
    }

    /** The packets that were answered as sent. */
    public List<Packet> packets() {
        return packets;
    }

    private TestEngine engine(int chain) {
        return engines.get(chain % engines.size());
    }

    private void send(String sender) {
        if (stopping) {
            running.decrementAndGet();
            return;
        }
        TestEngine engine = engine(random.nextInt(64));
        var command = TestEngine.lucky(4000, SHARES, Duration.ofMillis(random.nextInt(500, 4000)));
        engine.loop(0)
                .call(services -> services.packets.send(TestEngine.member(sender), command, TestEngine.newKey()))
                .onComplete(sent -> {
                    if (sent.succeeded()) {
                        packets.add(sent.result());
                    } else if (sent.cause() instanceof RefusedException refused) {
                        wrong.add("send: " + refused.detail());
                    }
                    engine.vertx().setTimer(sent.succeeded() ? 25 : 50, later -> send(sender));
                });
    }

    private void claim(int chain) {
        if (stopping) {
            running.decrementAndGet();
            return;
        }
        int known = packets.size();
        TestEngine engine = engine(chain);
        if (known == 0) {
            engine.vertx().setTimer(5, later -> claim(chain));
            return;
        }
        Packet packet = packets.get(Math.max(0, known - 1 - random.nextInt(RECENT)));
        String user = "u" + random.nextInt(USERS);
        String who = packet.id() + " " + user;
        boolean hadWon = settled.containsKey(who);
        Future<ClaimOutcome> answer = engine.claim(random.nextInt(64), packet, user);
        answer.onComplete(done -> {
            answers.incrementAndGet();
            if (done.succeeded()) {
                check(who, hadWon, done.result());
            } else if (done.cause() instanceof UnavailableException) {
                unknown.incrementAndGet();
            } else {
                wrong.add("fault: " + done.cause());
            }
            engine.vertx().setTimer(10 + random.nextInt(30), later -> claim(chain));
        });
    }

    private void check(String who, boolean hadWon, ClaimOutcome outcome) {
        switch (outcome.kind()) {
            case CLAIMED, ALREADY_CLAIMED -> {
                Claim before = settled.putIfAbsent(who, outcome.wonClaim());
                if (before != null && !before.equals(outcome.wonClaim())) {
                    wrong.add("changed: " + before + " to " + outcome.wonClaim());
                }
            }
            case DRAINED, EXPIRED -> {
                if (hadWon) {
                    wrong.add("a winner was refused: " + outcome.kind() + " " + who);
                }
            }
            default -> wrong.add(outcome.kind() + " " + who);
        }
    }
}
