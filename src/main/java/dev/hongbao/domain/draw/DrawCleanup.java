package dev.hongbao.domain.draw;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Draws whose keys in Redis nobody needs any more. Thread-safe. */
public final class DrawCleanup {
    /** More than this many are left to the sweep of leftover keys. */
    private static final int MAX_KEYS = 10_000;

    private final BlockingQueue<DrawId> keys = new LinkedBlockingQueue<>(MAX_KEYS);

    /** Draws that a committed settlement closed. */
    void closed(Collection<DrawId> draws) {
        for (DrawId draw : draws) {
            var unused = keys.offer(draw);
        }
    }

    /** Postgres went back: what was closed may be open again, and has new keys. */
    public void forget() {
        keys.clear();
    }

    List<DrawId> take(int max) {
        List<DrawId> taken = new ArrayList<>();
        keys.drainTo(taken, max);
        return taken;
    }
}
