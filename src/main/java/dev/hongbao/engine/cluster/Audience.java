package dev.hongbao.engine.cluster;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many on this server want to hear of all that other servers settle and write into feeds: those with a socket, and those who
 * follow a feed. While there is none, the others tell this server only what it waits for. Safe on any thread.
 */
public final class Audience {
    private final AtomicInteger size = new AtomicInteger();

    public void joined() {
        size.incrementAndGet();
    }

    /** Once for each {@link #joined}. */
    public void left() {
        size.decrementAndGet();
    }

    public boolean isEmpty() {
        return size.get() == 0;
    }
}
