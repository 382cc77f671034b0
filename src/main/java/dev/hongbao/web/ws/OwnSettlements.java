package dev.hongbao.web.ws;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;

/**
 * Selects the settlements of one kind that a socket sends to its user: each once, and none that an answer on this socket carries.
 * Confined to the socket's event loop.
 */
final class OwnSettlements {
    /** Ids kept: a settlement arrives from this server, from others and from the feed, within a short time. */
    private static final int MAX_TOLD = 16;

    private final Set<UUID> asked = new HashSet<>();
    private final Queue<UUID> told = new ArrayDeque<>(1);

    /** Notes a request on this socket. @param id of the claimed packet, or of the request of plays */
    void asked(UUID id) {
        asked.add(id);
    }

    /** @param isKnown whether the answer carried the outcome; if not, its settlement is sent */
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

    /** Whether to send a settlement; true once per id. */
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
