package dev.hongbao.tools.bench.article;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

/**
 * The distributed lock of articles 3, 4 and 5: SET NX with an expiry, polled, and DEL. Its traps: it has no owner, so DEL frees
 * another holder's lock; and a holder that is slower than the expiry does not notice.
 *
 * @param patience longest wait for it
 */
record DelLock(String key, Duration expiry, Duration patience) {
    /** Twenty waiting clients keep Redis busy enough. */
    private static final long POLL_NANOS = 1_000_000;

    boolean take(Jedis jedis) {
        SetParams ifFree = SetParams.setParams().nx().px(expiry.toMillis());
        long deadline = System.nanoTime() + patience.toNanos();
        do {
            if (jedis.set(key, "1", ifFree) != null) {
                return true;
            }
            LockSupport.parkNanos(POLL_NANOS);
        } while (System.nanoTime() < deadline);
        return false;
    }

    /** A dead client cleans nothing up. */
    void free(Jedis jedis, Fault fault) {
        if (!fault.isDead()) {
            jedis.del(key);
        }
    }
}
