package dev.hongbao.testing;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits for what happens on its own: looks after 5 ms, then ever later up to 25 ms, until it holds, and fails with the last reason. What
 * takes long is asked seldom: each look may cost a statement.
 */
public final class Eventually {
    private static final long FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

    private Eventually() {}

    /** What may throw anything; an assertion, mostly. */
    public interface Assertion {
        void check() throws Exception;
    }

    /** Until the assertion passes. */
    public static void eventually(Duration limit, Assertion assertion) {
        eventuallyGet(limit, () -> {
            assertion.check();
            return true;
        });
    }

    /** Until the call returns without an exception. @return what it returned */
    public static <T> T eventuallyGet(Duration limit, Callable<T> call) {
        long start = System.nanoTime();
        for (long pause = FIRST_NANOS; ; pause = Math.min(LONGEST_NANOS, pause * 3 / 2)) {
            Throwable last;
            try {
                return call.call();
            } catch (VirtualMachineError fatal) {
                throw fatal;
            } catch (Throwable notYet) {
                last = notYet;
            }
            if (System.nanoTime() - start > limit.toNanos()) {
                throw new AssertionError("not within " + limit.toMillis() + " ms: " + last, last);
            }
            LockSupport.parkNanos(pause);
        }
    }
}
