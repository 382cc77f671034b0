package dev.hongbao.web.ws;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;

/**
 * Which settlements of one kind are told to a socket's user: those that were not asked for here, where they are the answer, and each
 * once. Confined to the socket's event loop.
 */
final class OwnSettlements {
    /** Remembered as told: a settlement is heard of from this server, from others and from the feed, soon after one another. */
    private static final int MAX_TOLD = 16;

    private final Set<UUID> asked = new HashSet<>();
    private final Queue<UUID> told = new ArrayDeque<>(1);

    /** Something is asked for here. @param id of the packet that is claimed, or of the request of plays */
    void asked(UUID id) {
        asked.add(id);
    }

    /** @param isKnown whether what became of it was the answer; if not, a settlement is told */
    void answered(UUID id, boolean isKnown) {
        asked.remove(id);
        if (isKnown) {
            remember(id);
        }
    }

    /** Whether an answer is still to come. */
    boolean isAwaited() {
        return !asked.isEmpty();
    }

    /** Whether a settlement is to be told; true once. */
    boolean tells(UUID id) {
        if (asked.contains(id) || told.contains(id)) {
            return false;
        }
        remember(id);
        return true;
    }

    private void remember(UUID id) {
        if (told.contains(id)) {
            return;
        }
        if (told.size() == MAX_TOLD) {
            told.remove();
        }
        told.add(id);
    }
}
