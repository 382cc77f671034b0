package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.history.Call;
import dev.hongbao.tools.chaos.history.Call.Kind;
import dev.hongbao.tools.chaos.history.History;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** One who is in the group, has no money, and asks for nothing that he may have: see {@link Attack}. */
final class HostileClient implements Runnable {
    private static final int PAUSE_MILLIS = 20;

    private final World world;
    private final History history;
    private final Api api;
    private final SplittableRandom random;

    /** @param api is closed when the client ends */
    HostileClient(World world, History history, Api api, SplittableRandom random) {
        this.world = world;
        this.history = history;
        this.api = api;
        this.random = random;
    }

    @Override
    public void run() {
        try (Api closed = api) {
            while (!world.isStopping() && !history.isFull()) {
                int attack = random.nextInt(Attack.ALL.size());
                String packet = world.packet(random);
                if (!packet.isEmpty()) {
                    api.perform(new Call(Kind.HOSTILE, "mallory", packet, "", attack, world.server(random)));
                }
                TimeUnit.MILLISECONDS.sleep(random.nextInt(2 * PAUSE_MILLIS + 1));
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
