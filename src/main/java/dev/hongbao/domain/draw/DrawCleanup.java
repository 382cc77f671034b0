package dev.hongbao.domain.draw;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;

/** Draws whose keys in Redis nobody needs any more. Confined to the persistence verticle's event loop. */
public final class DrawCleanup {
    /** More than this many wait for the next recovery instead. */
    private static final int MAX_KEYS = 10_000;

    private final Deque<DrawId> keys = new ArrayDeque<>();

    /** Draws that a committed settlement closed. */
    void closed(Collection<DrawId> draws) {
        for (DrawId draw : draws) {
            if (keys.size() < MAX_KEYS) {
                keys.add(draw);
            }
        }
    }

    List<DrawId> take(int max) {
        List<DrawId> taken = new ArrayList<>();
        while (taken.size() < max && !keys.isEmpty()) {
            taken.add(keys.remove());
        }
        return taken;
    }
}
