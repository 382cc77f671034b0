package dev.hongbao.tools.bench.article;

import dev.hongbao.store.Stores.StoreAddresses;
import java.time.Duration;
import java.util.List;
import redis.clients.jedis.Jedis;

/**
 * Article 4 (使用redis zset实现抽奖, prizes released over time, 2018): a sorted set has the prizes at their moments. Under a lock a
 * play takes the first due prize. Here all moments are past, so every play wins.
 *
 * <p>Traps: a play that did not get the lock frees it, too. A failed lock reads as a lost draw. Look and remove are two steps,
 * and nobody checks that the removal removed anything. A retry wins again.
 */
public final class Article4 extends Strategy {
    private final String prizes = key("prizes");
    private final DelLock lock;

    /** @param lockExpiry of its lock; a play waits half as long for it, and then counts as lost */
    public Article4(StoreAddresses stores, Duration lockExpiry) {
        super(stores, 4, "lock, sorted set", 4);
        this.lock = new DelLock(key("lock"), lockExpiry, lockExpiry.dividedBy(2));
    }

    @Override
    Supply fill(int shares) {
        long now = System.currentTimeMillis();
        return fill(shares, prize -> 1, (redis, i) -> redis.zadd(prizes, now - shares + i, Integer.toString(i)));
    }

    @Override
    boolean claim(Client client, int user, Fault fault) throws Exception {
        Jedis jedis = client.redis();
        boolean locked = lock.take(jedis);
        try {
            if (!locked) {
                return false;
            }
            fault.after("locked");
            return play(jedis, user, fault);
        } finally {
            lock.free(jedis, fault);
        }
    }

    private boolean play(Jedis jedis, int user, Fault fault) throws Exception {
        List<String> due = jedis.zrangeByScore(prizes, 0, System.currentTimeMillis(), 0, 1);
        fault.after("looked");
        if (due.isEmpty()) {
            return false;
        }
        jedis.zrem(prizes, due.get(0));
        fault.after("removed");
        record(jedis, user, due.get(0));
        fault.after("recorded");
        return true;
    }

    @Override
    long left() {
        return inRedis(jedis -> jedis.zcard(prizes));
    }
}
