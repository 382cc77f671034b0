package dev.hongbao.journal;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.journal.ShardStore.ShardRow;
import dev.hongbao.postgres.PostgresAddress;
import dev.hongbao.redis.RedisLink;
import dev.hongbao.redis.Script;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import io.vertx.pgclient.PgBuilder;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.Pool;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** Two recoveries of one generation, each begun by a server that believes it owns the shard (invariant I9). */
@ExtendWith(Servers.class)
class ConcurrentRecoveryIT {
    private final List<String> loaded = new ArrayList<>();

    @Test
    void theLaterOneAdoptsTheGenerationAndDoesNotTouchItsKeys(TestServers servers) {
        // Given a shard with an entry that is not settled, and nobody who runs
        TestEngine.start(servers, 1, Map.of("shards", "1")).close();
        Vertx vertx = Vertx.vertx();
        Pool pool = PgBuilder.pool()
                .connectingTo(PostgresAddress.of(servers.postgresAppUrl()).connectOptions())
                .using(vertx)
                .build();
        ShardStore store = new ShardStore(pool);
        Generation first = get(store.readAll()).get(0).generation();
        var done = Promise.<List<ShardRow>>promise();
        ((VertxInternal) vertx)
                .createEventLoopContext()
                .runOnContext(now -> RedisLink.open(vertx, servers.redisUrl(), Duration.ofSeconds(2), "test")
                        .compose(redis -> redis.send(Request.cmd(Command.XADD)
                                        .arg(first.journalKey())
                                        .arg(first.epoch() + "-*")
                                        .arg("noise")
                                        .arg("-"))
                                .compose(added -> race(first, pool, store, redis)))
                        .onComplete(done));

        // When
        List<ShardRow> rows = get(done.future());

        // Then
        assertThat(rows.get(0).generation().epoch()).isEqualTo(first.epoch() + 1);
        assertThat(rows.get(1).generation()).isEqualTo(rows.get(0).generation());
        assertThat(loaded).containsExactly("quicker " + rows.get(0).generation());
        get(vertx.close());
    }

    @Test
    void aRecoveryThatWasOvertakenWhileItLoadedLeavesNoJournalBehind(TestServers servers) {
        // Given
        TestEngine.start(servers, 1, Map.of("shards", "1")).close();
        Vertx vertx = Vertx.vertx();
        Pool pool = PgBuilder.pool()
                .connectingTo(PostgresAddress.of(servers.postgresAppUrl()).connectOptions())
                .using(vertx)
                .build();
        ShardStore store = new ShardStore(pool);
        Generation first = get(store.readAll()).get(0).generation();
        var done = Promise.<ShardRow>promise();
        ((VertxInternal) vertx)
                .createEventLoopContext()
                .runOnContext(now -> RedisLink.open(vertx, servers.redisUrl(), Duration.ofSeconds(2), "test")
                        .compose(redis -> {
                            Recovery later = recovery("later", pool, store, redis, none -> Future.succeededFuture(0));
                            // When another owner recovers the generation that this one is only loading
                            return recovery(
                                            pool,
                                            store,
                                            redis,
                                            generation -> later.run(generation).<Void>mapEmpty())
                                    .run(first);
                        })
                        .onComplete(done));
        ShardRow row = get(done.future());

        // Then
        assertThat(row.generation().epoch()).isEqualTo(first.epoch() + 2);
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            assertThat(redis.keys("{s0}:" + (first.epoch() + 1) + "-*")).isEmpty();
            assertThat(redis.exists(row.generation().journalKey())).isTrue();
        }
        get(vertx.close());
    }

    /** The slower recovery is in the middle of its second step while the quicker one runs from beginning to end. */
    private Future<List<ShardRow>> race(Generation first, Pool pool, ShardStore store, RedisLink redis) {
        Recovery quicker = recovery(
                "quicker",
                pool,
                store,
                redis,
                batch -> store.moveCursors(pool, batch.moves()).map(0));
        List<ShardRow> rows = new ArrayList<>();
        Recovery slower = recovery(
                "slower",
                pool,
                store,
                redis,
                batch -> quicker.run(first).map(row -> {
                    rows.add(row);
                    return 0;
                }));
        return slower.run(first).map(row -> {
            rows.add(row);
            return rows;
        });
    }

    private Recovery recovery(
            String name,
            Pool pool,
            ShardStore store,
            RedisLink redis,
            Function<SettlementBatch, Future<Integer>> settle) {
        return recovery(pool, store, redis, settle, generation -> {
            loaded.add(name + " " + generation);
            return Future.succeededFuture();
        });
    }

    private static Recovery recovery(
            Pool pool, ShardStore store, RedisLink redis, Function<Generation, Future<Void>> loader) {
        return recovery(pool, store, redis, none -> Future.succeededFuture(0), loader);
    }

    private static Recovery recovery(
            Pool pool,
            ShardStore store,
            RedisLink redis,
            Function<SettlementBatch, Future<Integer>> settle,
            Function<Generation, Future<Void>> loader) {
        Shards shards = new Shards(store, 1, Map.of("load", Script.read("load")));
        return new Recovery(
                pool,
                redis,
                new RedisWatch(redis, shards),
                store,
                shards,
                new JournalReader(redis, Map.of()),
                List.of((unused, link, generation) -> loader.apply(generation)),
                settle);
    }
}
