package dev.hongbao.tools.bench.article;

import dev.hongbao.store.Stores.StoreAddresses;
import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import redis.clients.jedis.Jedis;

/**
 * Article 5 (C#, 抢红包功能的分布式情况下处理多并发, 2018): a counter admits one user per share. Under a lock each user draws an
 * amount from the remainder, and the last one takes all of it. The record follows.
 *
 * <p>Traps: the counter decides who is last, but the lock decides the order of the amounts, so the last may take all while others
 * wait. A client that dies loses its share. A stale remainder pays too much. DECR creates a lost key at -1. A retry takes another
 * share.
 */
public final class Article5 extends Strategy {
    private static final long MEAN = 100;

    private final String tries = key("tries");
    private final String remaining = key("remaining");
    private final DelLock lock;

    /** @param lockExpiry of its lock, longer than any claim should take */
    public Article5(StoreAddresses stores, Duration lockExpiry) {
        super(stores, 5, "counter, lock, remainder", 5);
        this.lock = new DelLock(key("lock"), lockExpiry, lockExpiry.multipliedBy(Crowd.THREADS));
    }

    @Override
    Supply fill(int shares) {
        return inRedis(jedis -> {
            jedis.set(tries, Integer.toString(shares));
            jedis.set(remaining, Long.toString(shares * MEAN));
            return new Supply(shares * MEAN, Map.of("", (long) shares));
        });
    }

    @Override
    boolean claim(Client client, int user, Fault fault) throws Exception {
        Jedis jedis = client.redis();
        long behind = jedis.decr(tries);
        if (behind < 0) {
            return false;
        }
        fault.after("admitted");
        if (!lock.take(jedis)) {
            return false;
        }
        long amount;
        try {
            fault.after("locked");
            amount = take(jedis, behind, fault);
        } finally {
            lock.free(jedis, fault);
        }
        if (amount == 0) {
            return false;
        }
        record(jedis, user, amount);
        fault.after("recorded");
        return true;
    }

    private long take(Jedis jedis, long behind, Fault fault) throws Exception {
        long left = Long.parseLong(jedis.get(remaining));
        fault.after("read");
        long amount = left;
        if (behind > 0 && left > 0) {
            long most = Math.max(1, Math.min(left, 2 * left / (behind + 1)));
            amount = Math.min(left, 1 + new SplittableRandom().nextLong(most));
        }
        jedis.set(remaining, Long.toString(left - amount));
        fault.after("taken");
        return amount;
    }

    @Override
    Grant grant(int user, String amount) {
        return new Grant(user, "", Long.parseLong(amount));
    }

    @Override
    long left() {
        return inRedis(jedis -> Math.max(0, Long.parseLong(jedis.get(tries))));
    }
}
