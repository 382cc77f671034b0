package dev.hongbao.engine.writer;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.journal.JournalReader;
import dev.hongbao.engine.journal.SettlementBatch;
import dev.hongbao.engine.postgres.PostgresAddress;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.redis.Script;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Installation;
import dev.hongbao.engine.shard.ShardStore;
import dev.hongbao.engine.shard.ShardStore.ShardRow;
import dev.hongbao.engine.shard.Shards;
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
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** Two recoveries of one generation, each begun by a server that believes it owns the shard (invariant I9). */
@ExtendWith(Servers.class)
class ConcurrentRecoveryIT {
    private final List<String> loaded = new ArrayList<>();

    /** What a recovery works with, and the generation that it is to replace. */
    private record Shard(Generation first, Pool pool, ShardStore store, RedisLinks redis, Vertx vertx) {}

    /** Makes the shard; started once more, an engine would find scripts missing and recover it under the tests' hands. */
    @BeforeAll
    static void makeTheShard(TestServers servers) {
        TestEngine.start(servers, 1, Map.of("shards", "1")).close();
    }

    /** On one shard, of which nobody is the owner. */
    private static <T> T onShard(TestServers servers, Function<Shard, Future<T>> work) {
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
                        .compose(redis -> work.apply(new Shard(first, pool, store, redis, vertx)))
                        .onComplete(done));
        T result = get(done.future());
        get(vertx.close());
        return result;
    }

    @Test
    void theLaterOneAdoptsTheGenerationAndDoesNotTouchItsKeys(TestServers servers) {
        // Given a shard with an entry that is not settled
        List<Generation> before = new ArrayList<>();

        // When
        List<ShardRow> rows = onShard(servers, shard -> {
            before.add(shard.first());
            return shard.first()
                    .link(shard.redis())
                    .send(Request.cmd(Command.XADD)
                            .arg(shard.first().journalKey())
                            .arg(shard.first().epoch() + "-*")
                            .arg("noise")
                            .arg("-"))
                    .compose(added -> race(shard));
        });

        // Then
        assertThat(rows.get(0).generation().epoch()).isEqualTo(before.get(0).epoch() + 1);
        assertThat(rows.get(1).generation()).isEqualTo(rows.get(0).generation());
        assertThat(loaded).containsExactly("quicker " + rows.get(0).generation());
    }

    @Test
    void aRecoveryThatWasOvertakenWhileItLoadedLeavesNoJournalBehind(TestServers servers) {
        // Given another owner that recovers the generation which this one is only loading
        List<Generation> overtaken = new ArrayList<>();

        // When
        ShardRow row = onShard(servers, shard -> {
            Recovery later = recovery(shard, none -> Future.succeededFuture(0), loading -> Future.succeededFuture());
            return recovery(shard, none -> Future.succeededFuture(0), loading -> {
                        overtaken.add(loading);
                        return later.run(loading, -1).mapEmpty();
                    })
                    .run(shard.first(), -1);
        });

        // Then
        assertThat(row.generation().epoch()).isEqualTo(overtaken.get(0).epoch() + 1);
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            assertThat(redis.exists(overtaken.get(0).journalKey())).isFalse();
            assertThat(redis.exists(row.generation().journalKey())).isTrue();
        }
    }

    /** The slower recovery is in the middle of its second step while the quicker one runs from beginning to end. */
    private Future<List<ShardRow>> race(Shard shard) {
        Recovery quicker = recovery(
                shard, batch -> batch.moves().moveOnly(shard.pool()).map(0), loading -> load("quicker", loading));
        List<ShardRow> rows = new ArrayList<>();
        Recovery slower = recovery(
                shard,
                batch -> quicker.run(shard.first(), -1).map(row -> {
                    rows.add(row);
                    return 0;
                }),
                loading -> load("slower", loading));
        return slower.run(shard.first(), -1).map(row -> {
            rows.add(row);
            return rows;
        });
    }

    private Future<Void> load(String name, Generation generation) {
        loaded.add(name + " " + generation);
        return Future.succeededFuture();
    }

    private static Recovery recovery(
            Shard shard, Function<SettlementBatch, Future<Integer>> settle, Function<Generation, Future<Void>> loader) {
        Shards shards = new Shards(shard.store(), 1, Map.of("load", Script.read("load")));
        return new Recovery(
                shard.pool(),
                shard.redis(),
                new RedisWatch(shard.redis(), shards),
                new KeySweep(shard.vertx(), shard.redis(), shards.namespace()),
                shard.store(),
                shards,
                new JournalReader(shard.redis(), List.of()),
                List.of((unused, link, generation) -> loader.apply(generation)),
                settle);
    }
}
