package dev.hongbao.engine;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The listeners to everything that is settled or written into feeds. It counts the sockets and followers of feeds on this server,
 * and notes whether another server has some. While this server has none, other servers send it only the settlements that it waits
 * for. Thread-safe.
 */
public final class Audience {
    /** Address of an empty message after this server committed events of a feed: the fast path. Best effort. */
    public static final String NUDGE = "feed.nudge";

    /** Address of an empty message after another server reported committed events. */
    public static final String NUDGED = "feed.nudge.elsewhere";

    private final AtomicInteger size = new AtomicInteger();
    private volatile boolean elsewhere;

    public void joined() {
        size.incrementAndGet();
    }

    /** Once for each {@link #joined}. */
    public void left() {
        size.decrementAndGet();
    }

    /** Whether this server has no listener. */
    public boolean isEmpty() {
        return size.get() == 0;
    }

    /** Whether any server has a listener, as far as this server knows. */
    public boolean isAnywhere() {
        return elsewhere || !isEmpty();
    }

    void setElsewhere(boolean now) {
        elsewhere = now;
    }
}
