package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.history.Answer.Verdict;
import dev.hongbao.tools.chaos.history.Call;
import dev.hongbao.tools.chaos.history.Operation;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** Asks again, mostly elsewhere, when nobody tells what became of a call; sometimes gives up. Confined to one thread; blocking. */
final class Tries {
    private static final int MOST = 3;
    private static final int PAUSE_MILLIS = 200;

    private final World world;
    private final Api api;
    private final SplittableRandom random;

    Tries(World world, Api api, SplittableRandom random) {
        this.world = world;
        this.api = api;
        this.random = random;
    }

    /** Returns what the last try has told. The world learns of a packet that is sent. */
    Operation perform(Call call) throws InterruptedException {
        Operation operation = api.perform(call);
        world.learn(operation);
        for (int tried = 1; tried < MOST && operation.answer().verdict() == Verdict.UNKNOWN; tried++) {
            TimeUnit.MILLISECONDS.sleep(random.nextInt(PAUSE_MILLIS));
            if (world.isStopping() || random.nextInt(10) < 2) {
                return operation; // one who has gone away
            }
            operation = api.perform(call.at(world.server(random)));
            world.learn(operation);
        }
        return operation;
    }
}
