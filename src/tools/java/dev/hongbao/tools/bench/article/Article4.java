package dev.hongbao.tools.bench.article;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;

/**
 * Article 4 (使用redis zset实现抽奖, prizes released over time, 2018): prizes lie in a sorted set at their moments; under a lock a
 * play takes the first whose moment has come. Here all moments are past, so that every play wins.
 *
 * <p>Traps: the lock is released even by one who never got it; a failed lock reads as a lost draw; looking and removing are
 * two steps, and nobody looks whether the removal found anything; a play made again wins again.
 */
public final class Article4 implements Strategy {
    private static final String PRIZES = "article4:prizes";
    private static final WinnersList WINNERS = new WinnersList("article4:winners");

    private final URI redis;
    private final DelLock lock;

    /** @param lockExpiry of its lock; one waits for it half as long, and then reads it as a lost draw */
    public Article4(String redisUrl, Duration lockExpiry) {
        this.redis = URI.create(redisUrl);
        this.lock = new DelLock("article4:lock", lockExpiry, lockExpiry.dividedBy(2));
    }

    @Override
    public String name() {
        return "4: lock, sorted set";
    }

    @Override
    public int steps() {
        return 4;
    }

    @Override
    public Supply fill(int shares) {
        long now = System.currentTimeMillis();
        try (Jedis jedis = new Jedis(redis)) {
            jedis.del(PRIZES, WINNERS.key(), lock.key());
            Pipeline pipeline = jedis.pipelined();
            for (int i = 0; i < shares; i++) {
                pipeline.zadd(PRIZES, now - shares + i, Integer.toString(i));
            }
            pipeline.sync();
        }
        return Supply.ofOnes(shares, prize -> 1);
    }

    @Override
    public Client open() {
        Jedis jedis = new Jedis(redis);
        jedis.ping();
        return new Client() {
            @Override
            public Told claim(int user, Fault fault) throws Exception {
                boolean locked = lock.take(jedis);
                try {
                    if (!locked) {
                        return Told.NOTHING;
                    }
                    fault.after("locked");
                    return play(jedis, user, fault);
                } finally {
                    if (!fault.isDead()) {
                        lock.free(jedis);
                    }
                }
            }

            @Override
            public void close() {
                jedis.close();
            }
        };
    }

    private static Told play(Jedis jedis, int user, Fault fault) throws Exception {
        List<String> due = jedis.zrangeByScore(PRIZES, 0, System.currentTimeMillis(), 0, 1);
        fault.after("looked");
        if (due.isEmpty()) {
            return Told.NOTHING;
        }
        jedis.zrem(PRIZES, due.get(0));
        fault.after("removed");
        WINNERS.add(jedis, user, due.get(0));
        fault.after("recorded");
        return Told.WON;
    }

    @Override
    public List<Grant> granted() {
        return WINNERS.read(redis, (user, prize) -> new Grant(user, prize, 1));
    }

    @Override
    public long left() {
        try (Jedis jedis = new Jedis(redis)) {
            return jedis.zcard(PRIZES);
        }
    }

    @Override
    public void clear() {
        try (Jedis jedis = new Jedis(redis)) {
            jedis.del(PRIZES, WINNERS.key(), lock.key());
        }
    }
}
