package dev.hongbao.tools.bench;

import java.net.URI;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import redis.clients.jedis.Jedis;

/** The journals, from outside. Blocking. */
final class Journals {
    private static final long LIMIT_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long POLL_MILLIS = 20;

    private Journals() {}

    /** Waits until everything that was accepted is settled, so that the next measurement begins at rest. */
    static void awaitEmpty(String redisUrl) throws InterruptedException, TimeoutException {
        long begun = System.nanoTime();
        try (Jedis redis = new Jedis(URI.create(redisUrl))) {
            Set<String> journals = redis.keys("{*:*}:*:journal");
            while (journals.stream().mapToLong(redis::xlen).sum() > 0) {
                if (System.nanoTime() - begun > LIMIT_NANOS) {
                    throw new TimeoutException("what was accepted is not settled after a minute");
                }
                TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
            }
        }
    }
}
