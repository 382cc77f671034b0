package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.check.Call;
import dev.hongbao.tools.chaos.check.Call.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** One of the crowd: sends, claims, plays, moves money and repeats earlier calls. Confined to one thread; blocking. */
final class SimulatedClient {
    private static final int REMEMBERED = 24;

    private final World world;
    private final SplittableRandom random;
    private final String name;
    private final List<Call> done = new ArrayList<>();
    private long commands;

    /** @param name unique in the run: the idempotency keys begin with it */
    SimulatedClient(World world, SplittableRandom random, String name) {
        this.world = world;
        this.random = random;
        this.name = name;
    }

    void step() throws InterruptedException {
        int dice = random.nextInt(100);
        if (dice < 12 && !done.isEmpty()) {
            world.ask(done.get(random.nextInt(done.size())).at(server()), random);
            return;
        }
        Call call = dice < 72 ? claim() : command(dice);
        if (done.size() == REMEMBERED) {
            done.remove(0);
        }
        done.add(call);
        world.ask(call, random);
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
            return new Call(Kind.POOL, user(), world.campaign, key(), 0, server());
        }
        if (dice < 90) {
            return new Call(Kind.PLAY, user(), world.draw, key(), 0, server());
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
