package dev.hongbao.engine.watch;

import dev.hongbao.engine.redis.RedisInfo;
import dev.hongbao.engine.redis.RedisLinks;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import java.util.Comparator;
import java.util.List;

/**
 * The fill of Redis' memory. In a cluster, the fullest master counts: once it is full, it refuses the claims of its shards,
 * whatever room the others have. A server that does not answer is left out. When none answers, the old numbers stay. The gauges
 * are read on any thread; {@link #look} belongs to the links' event loop.
 */
final class RedisMemory {
    private volatile Memory fullest = new Memory(0, 0);

    RedisMemory(MeterRegistry registry) {
        Gauge.builder("hongbao.redis.memory.used", this, all -> all.fullest.used)
                .description("Memory that Redis uses; of a cluster, its fullest master")
                .baseUnit("bytes")
                .register(registry);
        Gauge.builder("hongbao.redis.memory.limit", this, all -> all.fullest.limit)
                .description(
                        "maxmemory of Redis, the limit at which it refuses claims; 0 for none; of a cluster, of the same master")
                .baseUnit("bytes")
                .register(registry);
    }

    /**
     * One server's memory, in bytes.
     *
     * @param limit 0 for none
     */
    private record Memory(long used, long limit) {
        static Memory of(RedisInfo info) {
            return new Memory(number(info.get("used_memory")), number(info.get("maxmemory")));
        }

        private static long number(String value) {
            return value.matches("[0-9]{1,18}") ? Long.parseLong(value) : 0;
        }

        private double fill() {
            return limit == 0 ? 0 : (double) used / limit;
        }
    }

    /** Reads all servers. Call it on the links' event loop. */
    Future<?> look(RedisLinks links) {
        List<Future<Memory>> answers = links.servers().stream()
                .map(server -> RedisInfo.read(server, "memory").map(Memory::of))
                .toList();
        return Future.join(answers)
                .onComplete(asked -> answers.stream()
                        .filter(Future::succeeded)
                        .map(Future::result)
                        .max(Comparator.comparingDouble(Memory::fill).thenComparingLong(Memory::used))
                        .ifPresent(memory -> fullest = memory));
    }
}
