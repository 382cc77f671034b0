package dev.hongbao.bench;

import dev.hongbao.redis.Script;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;

/**
 * Article 1's own loop, the baseline of all ratios: 20 threads, a blocking client each, EVAL of its script: two lists and a map
 * of who claimed, the user as a KEY, the share as JSON.
 */
final class JedisLoop {
    private static final int THREADS = 20;
    private static final String[] KEYS = {"hongBaoList", "hongBaoConsumedList", "hongBaoConsumedMap"};

    private final URI redis;
    private final String script = Script.read("bench/article1");

    JedisLoop(String redisUrl) {
        this.redis = URI.create(redisUrl);
    }

    /**
     * Claims that many shares and checks that each went to one user.
     *
     * @return claims a second
     */
    double run(int shares) throws InterruptedException {
        try (Jedis jedis = new Jedis(redis)) {
            jedis.del(KEYS);
            fill(jedis, shares);
        }
        List<Jedis> clients = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        AtomicInteger won = new AtomicInteger();
        for (int t = 0; t < THREADS; t++) {
            Jedis client = new Jedis(redis);
            client.ping();
            clients.add(client);
            int first = t;
            threads.add(new Thread(() -> claim(client, first, shares, won), "jedis-" + t));
        }
        long begun = System.nanoTime();
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        double seconds = (System.nanoTime() - begun) / 1e9;
        clients.forEach(Jedis::close);
        if (won.get() != shares) {
            throw new IllegalStateException(won.get() + " of " + shares + " shares claimed");
        }
        try (Jedis jedis = new Jedis(redis)) {
            jedis.del(KEYS);
        }
        return shares / seconds;
    }

    private static void fill(Jedis jedis, int shares) {
        Pipeline pipeline = jedis.pipelined();
        for (int i = 0; i < shares; i++) {
            pipeline.lpush(
                    KEYS[0], new JsonObject().put("id", i).put("money", i).encode());
        }
        pipeline.sync();
    }

    private void claim(Jedis client, int first, int shares, AtomicInteger won) {
        for (int user = first; user < shares; user += THREADS) {
            Object share = client.eval(script, 4, KEYS[0], KEYS[1], KEYS[2], Integer.toString(user));
            if (share != null) {
                won.incrementAndGet();
            }
        }
    }
}
