package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** All keys of a Redis are gone through to find a shard's old ones, and Redis does nothing else meanwhile. */
@ExtendWith(Servers.class)
class KeySweepIT {
    private static final String NAMESPACE = "sweep";
    private static final int SHARDS = 64;
    private static final Pattern SCANS = Pattern.compile("cmdstat_scan:calls=(\\d+)");

    private static List<Generation> generations(long epoch) {
        return IntStream.range(0, SHARDS)
                .mapToObj(shard -> new Generation(NAMESPACE, shard, epoch, "nonce"))
                .toList();
    }

    private static long scans(Jedis redis) {
        Matcher calls = SCANS.matcher(redis.info("commandstats"));
        return calls.find() ? Long.parseLong(calls.group(1)) : 0;
    }

    @Test
    void shardsThatAskWhileAPassIsUnderWayShareTheNextOne(TestServers servers) {
        OneShard.make(servers);
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            // Given for each of many shards a key of an older generation and one of the present one: few, so that a
            // pass is one page
            generations(1).forEach(old -> redis.set(old.journalKey(), "old"));
            generations(2).forEach(present -> redis.set(present.journalKey(), "present"));
            long before = scans(redis);

            // When all of them recover at once
            OneShard.on(servers, one -> {
                KeySweep sweep = new KeySweep(Loop.of(one.vertx()), one.redis(), NAMESPACE);
                return Future.all(
                        generations(2).stream().map(sweep::unlinkReplaced).toList());
            });

            // Then there are two passes, that of the first and that of all others, and what is old is gone
            assertThat(scans(redis) - before).isEqualTo(2);
            assertThat(generations(1)).noneMatch(old -> redis.exists(old.journalKey()));
            assertThat(generations(2)).allMatch(present -> redis.exists(present.journalKey()));
        }
    }

    @Test
    void aPageThatPostgresDoesNotAnswerForIsLookedAtAgain(TestServers servers) {
        OneShard.make(servers);
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            AtomicReference<String> over = new AtomicReference<>();
            AtomicInteger looks = new AtomicInteger();

            OneShard.on(servers, one -> {
                // Given a key of the shard whose packet is over, and a Postgres that fails when it is asked first
                String key = one.first().stamp() + ":p:over";
                over.set(key);
                redis.set(key, "over");
                Mode.ShardLoader loader = new Mode.ShardLoader() {
                    @Override
                    public Future<Void> load(Pool pool, RedisLink link, Generation generation) {
                        return Future.failedFuture("not asked");
                    }

                    @Override
                    public Future<List<String>> over(Pool pool, Generation generation, List<String> keys) {
                        return looks.incrementAndGet() == 1
                                ? Future.failedFuture("no answer")
                                : Future.succeededFuture(List.of(key));
                    }
                };
                Shards shards = new Shards(one.store(), 1, Map.of());
                var leftovers =
                        new KeySweep.LeftoverKeys(Loop.of(one.vertx()), one.pool(), shards, List.of(loader), null);

                // When
                return shards.refresh()
                        .compose(known -> leftovers.run(List.of(0), one.redis()))
                        .recover(noAnswer -> leftovers.run(List.of(0), one.redis()));
            });

            // Then the task goes on at once, from the begin of the page
            assertThat(looks).hasValue(2);
            assertThat(redis.exists(over.get())).isFalse();
        }
    }
}
