package dev.hongbao.draw;

import dev.hongbao.values.DrawId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** A queue of closed draws, for the removal of their keys from Redis. Thread-safe. */
final class DrawCleanup {
    /** Draws queued at most. The sweep of leftover keys removes the rest. */
    private static final int MAX_KEYS = 10_000;

    private final BlockingQueue<DrawId> keys = new LinkedBlockingQueue<>(MAX_KEYS);

    /** Draws that a committed settlement closed. */
    void closed(Collection<DrawId> draws) {
        for (DrawId draw : draws) {
            var unused = keys.offer(draw);
        }
    }

    /** Drops the queue. For a Postgres that stepped back: a closed draw may be open again, with new keys. */
    public void forget() {
        keys.clear();
    }

    List<DrawId> take(int max) {
        List<DrawId> taken = new ArrayList<>();
        keys.drainTo(taken, max);
        return taken;
    }
}
