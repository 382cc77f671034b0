package dev.hongbao.http;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;

/**
 * Logs unexpected faults, one line each. Many requests may meet the same fault, so its stack trace is logged once a minute per
 * kind: exception class and origin. Thread-safe.
 */
public final class FaultLog {
    private static final long TRACE_EVERY_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** Kinds kept; at more, all are forgotten and traced again. */
    private static final int MAX_KINDS = 200;

    private final Logger log;
    private final LongSupplier nanoTime;
    private final Map<String, Long> tracedNanos = new HashMap<>();

    /** @param nanoTime as {@link System#nanoTime} */
    public FaultLog(Logger log, LongSupplier nanoTime) {
        this.log = log;
        this.nanoTime = nanoTime;
    }

    /** @param the failed operation with its ids, some of which a client may have chosen */
    public void failed(String what, Throwable fault) {
        String line = (what + ": " + fault).replaceAll("\\p{Cntrl}+", " ");
        if (isTraced(fault)) {
            log.error("{}", line, fault);
        } else {
            log.error("{}", line);
        }
    }

    private synchronized boolean isTraced(Throwable fault) {
        StackTraceElement[] stack = fault.getStackTrace();
        if (stack.length == 0) {
            return false; // one that carries none
        }
        if (tracedNanos.size() >= MAX_KINDS) {
            tracedNanos.clear();
        }
        String kind = fault.getClass().getName() + " " + stack[0];
        long now = nanoTime.getAsLong();
        Long before = tracedNanos.get(kind);
        if (before != null && now - before < TRACE_EVERY_NANOS) {
            return false;
        }
        tracedNanos.put(kind, now);
        return true;
    }
}
