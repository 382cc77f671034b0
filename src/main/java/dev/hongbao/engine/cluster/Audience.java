package dev.hongbao.engine.cluster;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Who wants to hear of all that is settled and written into feeds: on this server those with a socket, and those who follow a feed; and
 * other servers on which there are such. While there is none here, the others tell this server only what it waits for.
 * Thread-safe.
 */
public final class Audience {
    private final AtomicInteger size = new AtomicInteger();
    private volatile boolean elsewhere;

    public void joined() {
        size.incrementAndGet();
    }

    /** Once for each {@link #joined}. */
    public void left() {
        size.decrementAndGet();
    }

    /** Whether nobody on this server does. */
    public boolean isEmpty() {
        return size.get() == 0;
    }

    /** Whether somebody does, as far as is known: here, or on another server. */
    public boolean isAnywhere() {
        return elsewhere || !isEmpty();
    }

    /** Notes whether somebody on another server does. */
    void setElsewhere(boolean now) {
        elsewhere = now;
    }
}
