package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.check.Call;
import dev.hongbao.tools.chaos.check.Operation;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** The state that all simulated clients share. Thread-safe. */
final class World {
    private static final int RECENT = 40;
    private static final int TRIES = 3;
    private static final int RETRY_MILLIS = 200;

    final Api api;
    final String draw;
    final String campaign;
    private final Deque<String> recent = new ArrayDeque<>();
    private volatile boolean stopping;

    World(Api api, String draw, String campaign) {
        this.api = api;
        this.draw = draw;
        this.campaign = campaign;
    }

    int server(SplittableRandom random) {
        return random.nextInt(api.servers());
    }

    String user(SplittableRandom random) {
        return Crowd.USERS.get(random.nextInt(Crowd.USERS.size()));
    }

    /** A packet for the group. Most end soon: many claim them, or they expire. */
    Call send(SplittableRandom random, String user, String key, int server) {
        int shares = random.nextInt(8) == 0 ? 20 + random.nextInt(60) : 1 + random.nextInt(10);
        int seconds = random.nextInt(10) < 6 ? 2 + random.nextInt(12) : 3_600;
        long amount = shares * (1 + (long) random.nextInt(300));
        return new Call(Call.Kind.SEND, user, Call.terms(shares, seconds), key, amount, server);
    }

    /**
     * Without a definite answer it repeats the call, mostly at another server; sometimes it gives up.
     *
     * @return the last try
     */
    Operation ask(Call call, SplittableRandom random) throws InterruptedException {
        Operation operation = learn(api.perform(call));
        for (int tried = 1; tried < TRIES && operation.answer().isUnknown(); tried++) {
            TimeUnit.MILLISECONDS.sleep(random.nextInt(RETRY_MILLIS));
            if (stopping || random.nextInt(10) < 2) {
                return operation;
            }
            operation = learn(api.perform(call.at(server(random))));
        }
        return operation;
    }

    /** Remembers the packet of a send or a pool. */
    Operation learn(Operation operation) {
        Call.Kind kind = operation.call().kind();
        if ((kind == Call.Kind.SEND || kind == Call.Kind.POOL)
                && operation.answer().isOk()) {
            learn(operation.answer().id());
        }
        return operation;
    }

    /** Remembers a packet, and forgets the oldest. */
    void learn(String packet) {
        synchronized (recent) {
            recent.addFirst(packet);
            if (recent.size() > RECENT) {
                recent.removeLast();
            }
        }
    }

    /** A recent packet, more often one of the latest; empty for none. */
    String packet(SplittableRandom random) {
        synchronized (recent) {
            if (recent.isEmpty()) {
                return "";
            }
            int back = Math.min(random.nextInt(recent.size()), random.nextInt(recent.size()));
            return recent.stream().skip(back).findFirst().orElse("");
        }
    }

    boolean isOver() {
        return stopping || api.history().isFull();
    }

    /** Every client ends after its call. */
    void stop() {
        stopping = true;
    }
}
