package dev.hongbao.tools.bench;

import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.redis.Script;
import dev.hongbao.tools.local.Threads;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiPredicate;
import java.util.function.ObjIntConsumer;
import java.util.stream.IntStream;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.params.SetParams;

/**
 * The loops of articles 1 and 4, the baselines of other benchmarks: blocking clients who write to Redis only, one share for each user.
 * They keep their traps. Keys begin with {@code article}. Blocking, confined to one thread.
 */
final class ArticleLoops {
    /** As many as article 1 has. */
    private static final int THREADS = 20;

    private static final String SHARES = "article1:hongBaoList";
    private static final String CLAIMED = "article1:hongBaoConsumedList";
    private static final String USERS = "article1:hongBaoConsumedMap";
    private static final String PRIZES = "article4:prizes";
    private static final String WINNERS = "article4:winners";
    private static final String LOCK = "article4:lock";

    /** Longer than any play, so that nobody loses the lock. A play waits half as long for it. */
    private static final long LOCK_MILLIS = 10_000;

    /** Twenty waiting clients keep Redis busy enough. */
    private static final long POLL_NANOS = 1_000_000;

    private ArticleLoops() {}

    /**
     * Article 1 (抢红包, Redis + Lua, 2017): a list has the shares, split beforehand. One script, by EVAL, looks whether the user has
     * one, pops, marks and pushes, with cjson.
     *
     * @return claims a second
     */
    static double article1(StoreAddresses stores, int claims) throws Exception {
        String script = Script.read("bench/article1");
        return race(
                stores,
                claims,
                (pipeline, i) -> pipeline.lpush(
                        SHARES,
                        new JsonObject().put("id", i).put("money", 1 + i % 100).encode()),
                (jedis, user) -> jedis.eval(script, 4, SHARES, CLAIMED, USERS, user.toString()) != null);
    }

    /**
     * Article 4 (使用redis zset实现抽奖, prizes released over time, 2018): a sorted set has the prizes at their moments. Under a lock a
     * play takes the first due prize. Here all moments are past, so every play wins.
     *
     * @return plays a second
     */
    static double article4(StoreAddresses stores, int plays) throws Exception {
        long past = System.currentTimeMillis() - plays;
        return race(
                stores,
                plays,
                (pipeline, i) -> pipeline.zadd(PRIZES, past + i, Integer.toString(i)),
                ArticleLoops::play);
    }

    private static boolean play(Jedis jedis, int user) {
        SetParams ifFree = SetParams.setParams().nx().px(LOCK_MILLIS);
        long begun = System.nanoTime();
        while (jedis.set(LOCK, "1", ifFree) == null) {
            if (System.nanoTime() - begun > LOCK_MILLIS * 500_000) {
                return false;
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
        List<String> due = jedis.zrangeByScore(PRIZES, 0, System.currentTimeMillis(), 0, 1);
        if (!due.isEmpty()) {
            jedis.zrem(PRIZES, due.get(0));
            jedis.rpush(WINNERS, user + " " + due.get(0));
        }
        jedis.del(LOCK);
        return !due.isEmpty();
    }

    /**
     * @param claim whether the user has a share now
     * @throws IllegalStateException if a user has none
     */
    private static double race(
            StoreAddresses stores, int users, ObjIntConsumer<Pipeline> offer, BiPredicate<Jedis, Integer> claim)
            throws Exception {
        List<Jedis> clients = new ArrayList<>();
        try {
            for (int i = 0; i < THREADS; i++) {
                clients.add(new Jedis(URI.create(stores.redisUrl())));
                clients.get(i).ping();
            }
            clear(clients.get(0));
            Pipeline pipeline = clients.get(0).pipelined();
            IntStream.range(0, users).forEach(share -> offer.accept(pipeline, share));
            pipeline.sync();
            AtomicInteger next = new AtomicInteger();
            AtomicInteger without = new AtomicInteger();
            List<Callable<Void>> claims = new ArrayList<>();
            for (Jedis client : clients) {
                claims.add(() -> {
                    for (int user = next.getAndIncrement(); user < users; user = next.getAndIncrement()) {
                        if (!claim.test(client, user)) {
                            without.incrementAndGet();
                        }
                    }
                    return null;
                });
            }
            long begun = System.nanoTime();
            Threads.all(THREADS, claims);
            double seconds = (System.nanoTime() - begun) / 1e9;
            clear(clients.get(0));
            if (without.get() > 0) {
                throw new IllegalStateException("the article's loop gave nothing to " + without + " users");
            }
            return users / seconds;
        } finally {
            clients.forEach(Jedis::close);
        }
    }

    private static void clear(Jedis jedis) {
        jedis.del(SHARES, CLAIMED, USERS, PRIZES, WINNERS, LOCK);
    }
}
