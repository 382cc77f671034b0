package dev.hongbao.engine;

import static dev.hongbao.testing.TestEngine.get;

import dev.hongbao.engine.BatchSettler.SettlementBatch;
import dev.hongbao.engine.JournalEntry.JournalReader;
import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgBuilder;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** One shard that nobody owns, with what a recovery works with. @param first the generation that it has when the test begins */
record OneShard(Generation first, Pool pool, ShardStore store, RedisLinks redis, Vertx vertx) {
    /** Makes the shard; started once more, an engine would find scripts missing and recover it under the tests' hands. */
    static void make(TestServers servers) {
        TestEngine.start(servers, 1, Map.of("shards", "1")).close();
    }

    /** Works on the shard, on an event loop. @return what the work ends with */
    static <T> T on(TestServers servers, Function<OneShard, Future<T>> work) {
        Vertx vertx = Vertx.vertx();
        Pool pool = PgBuilder.pool()
                .connectingTo(PostgresAddress.of(servers.postgresAppUrl()).connectOptions())
                .using(vertx)
                .build();
        ShardStore store = new ShardStore(pool, get(Installation.read(pool, null)));
        Generation first = get(store.readAll()).get(0).generation();
        var done = Promise.<T>promise();
        ((VertxInternal) vertx)
                .createEventLoopContext()
                .runOnContext(now -> RedisLinks.open(vertx, servers.redisUrl(), Duration.ofSeconds(2), "test")
                        .compose(redis -> work.apply(new OneShard(first, pool, store, redis, vertx)))
                        .onComplete(done));
        try {
            return get(done.future());
        } finally {
            get(vertx.close());
        }
    }

    /** A recovery by a server that knows of the shards what {@code shards} says. */
    Recovery recovery(
            Shards shards,
            Function<SettlementBatch, Future<Integer>> settle,
            Function<Generation, Future<Void>> loader) {
        return new Recovery(
                pool,
                new RedisWatch(Loop.of(vertx), redis, shards),
                new KeySweep(Loop.of(vertx), redis, shards.namespace()),
                shards,
                new JournalReader(redis, List.of()),
                List.of((unused, link, generation) -> loader.apply(generation)),
                settle);
    }
}
