package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.history.Call;
import dev.hongbao.tools.chaos.history.Call.Kind;
import dev.hongbao.tools.chaos.history.History;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * One of the crowd: sends, claims, plays, moves money, repeats what it did before, and asks again, mostly elsewhere, when it is not told
 * what became of it. What it asks for follows from its random numbers and from what was sent meanwhile.
 */
public final class SimulatedClient implements Runnable {
    private static final int REMEMBERED = 24;

    private final World world;
    private final History history;
    private final Api api;
    private final Tries tries;
    private final SplittableRandom random;
    private final String name;
    private final int pauseMillis;
    private final Deque<Call> done = new ArrayDeque<>();
    private long commands;

    /**
     * @param api is closed when the client ends
     * @param name of no other client of the run: its idempotency keys begin with it
     * @param pauseMillis between two calls, on average
     */
    public SimulatedClient(
            World world, History history, Api api, SplittableRandom random, String name, int pauseMillis) {
        this.world = world;
        this.history = history;
        this.api = api;
        this.tries = new Tries(world, api, random);
        this.random = random;
        this.name = name;
        this.pauseMillis = pauseMillis;
    }

    @Override
    public void run() {
        try (Api closed = api) {
            while (!world.isStopping() && !history.isFull()) {
                tries.perform(next());
                TimeUnit.MILLISECONDS.sleep(random.nextInt(2 * pauseMillis + 1));
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private Call next() {
        int dice = random.nextInt(100);
        if (dice < 12 && !done.isEmpty()) {
            List<Call> all = new ArrayList<>(done);
            return all.get(random.nextInt(all.size())).at(server());
        }
        Call call = dice < 72 ? claim() : command(dice);
        done.addFirst(call);
        if (done.size() > REMEMBERED) {
            done.removeLast();
        }
        return call;
    }

    private Call claim() {
        String packet = world.packet(random);
        return packet.isEmpty() ? send() : Call.claim(user(), packet, server());
    }

    private Call command(int dice) {
        if (dice < 81) {
            return send();
        }
        if (dice < 85) {
            return new Call(Kind.POOL, user(), world.campaign(), key(), 0, server());
        }
        if (dice < 90) {
            return new Call(Kind.PLAY, user(), world.draw(), key(), 0, server());
        }
        if (dice < 95) {
            return new Call(Kind.DEPOSIT, user(), "", key(), 1 + random.nextInt(5_000), server());
        }
        return dice < 99
                ? new Call(Kind.WITHDRAWAL, user(), "", key(), 1 + random.nextInt(5_000), server())
                : new Call(Kind.BALANCE, user(), "", "", 0, server());
    }

    private Call send() {
        return world.send(random, user(), key(), server());
    }

    private String user() {
        return world.user(random);
    }

    private int server() {
        return world.server(random);
    }

    private String key() {
        return name + "-" + ++commands;
    }
}
