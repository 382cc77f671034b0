package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.check.Told;
import dev.hongbao.tools.chaos.history.Heard;
import dev.hongbao.tools.chaos.load.Api;
import dev.hongbao.tools.chaos.load.Crowd;
import dev.hongbao.tools.chaos.load.World;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** All who ask and listen while things break: the crowd, the rains, and the host's backend as a reader and as a webhook. Confined to one thread; blocking. */
final class Load {
    private final Crowd crowd;
    private final RainMaker rains;
    private final OutboxFollower outbox;
    private final WebhookReceiver receiver;
    private final List<Thread> threads = new ArrayList<>();

    /** Nobody begins yet. @param receiver is closed by who made it */
    Load(Crowd crowd, Supplier<Api> apis, World world, WebhookReceiver receiver) {
        this.crowd = crowd;
        this.rains = new RainMaker(apis.get(), world);
        this.outbox = new OutboxFollower(apis.get(), world.servers());
        this.receiver = receiver;
    }

    void start() {
        for (Runnable each : List.of(outbox, rains)) {
            Thread thread = new Thread(each, each.getClass().getSimpleName());
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        crowd.start();
    }

    /** Returns when nobody asks any more; the webhook still listens. */
    void stop() throws InterruptedException {
        crowd.stop();
        rains.stop();
        outbox.stop();
        for (Thread each : threads) {
            each.join();
        }
        receiver.beKind();
    }

    /** What was heard over sockets. */
    List<Heard> heard() {
        return crowd.heard();
    }

    /** Waits until the webhook has all of these. */
    void awaitDelivered(List<Told> all) throws InterruptedException {
        receiver.await(all);
    }

    /** What the host was told in the run. */
    List<Told> earlier() {
        List<Told> earlier = new ArrayList<>(outbox.told());
        earlier.addAll(receiver.told());
        return earlier;
    }

    /** The ids of all events that the webhook has. */
    Set<String> delivered() {
        return receiver.taken();
    }
}
