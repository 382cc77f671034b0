package dev.hongbao.tools.bench;

import java.net.URI;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.Jedis;

/** What Redis holds, in bytes. Blocking, confined to one thread. */
final class RedisMemory {
    private static final long PAUSE_MILLIS = 150;
    private static final int TRIES = 40;

    private final URI redis;

    RedisMemory(String redisUrl) {
        this.redis = URI.create(redisUrl);
    }

    /** Once it has come to rest: journals are trimmed a little after they are settled. */
    long settledBytes() throws InterruptedException {
        try (Jedis jedis = new Jedis(redis)) {
            long before = bytes(jedis);
            for (int i = 0; i < TRIES; i++) {
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
                long now = bytes(jedis);
                if (Math.abs(now - before) < Math.max(1_024, before / 10_000)) {
                    return now;
                }
                before = now;
            }
            return before;
        }
    }

    /** What is used, less the buffers of its log and of its clients, which come and go. */
    private static long bytes(Jedis jedis) {
        String info = jedis.info("memory");
        return value(info, "used_memory") - value(info, "mem_aof_buffer") - value(info, "mem_clients_normal");
    }

    private static long value(String info, String name) {
        return info.lines()
                .filter(line -> line.startsWith(name + ":"))
                .mapToLong(
                        line -> Long.parseLong(line.substring(name.length() + 1).strip()))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("Redis does not tell " + name));
    }
}
