package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.BatchSettler.SettlementBatch;
import dev.hongbao.engine.ShardStore.ShardRow;
import dev.hongbao.store.redis.Script;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.sqlclient.Pool;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
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

    @BeforeAll
    static void makeTheShard(TestServers servers) {
        OneShard.make(servers);
    }

    @Test
    void theLaterOneAdoptsTheGenerationAndDoesNotTouchItsKeys(TestServers servers) {
        // Given a shard with an entry that is not settled
        List<Generation> before = new ArrayList<>();

        // When
        List<ShardRow> rows = OneShard.on(servers, shard -> {
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
        ShardRow row = OneShard.on(servers, shard -> {
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

    @Test
    void aRecoveryLooksWhereItsShardIsOnAConnectionOfShortStatements(TestServers servers) throws IOException {
        // Given a connection for lengthy statements that never answers
        try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            List<Generation> before = new ArrayList<>();

            // When
            ShardRow row = OneShard.on(servers, shard -> {
                before.add(shard.first());
                Pool lengthy = PgBuilder.pool()
                        .connectingTo(
                                new PgConnectOptions().setHost("127.0.0.1").setPort(silent.getLocalPort()))
                        .using(shard.vertx())
                        .build();
                OneShard other = new OneShard(shard.first(), lengthy, shard.store(), shard.redis(), shard.vertx());
                return recovery(other, none -> Future.succeededFuture(0), loading -> Future.succeededFuture())
                        .run(shard.first(), -1);
            });

            // Then
            assertThat(row.generation().epoch()).isEqualTo(before.get(0).epoch() + 1);
        }
    }

    /** The slower recovery is in the middle of its second step while the quicker one runs from beginning to end. */
    private Future<List<ShardRow>> race(OneShard shard) {
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
            OneShard shard,
            Function<SettlementBatch, Future<Integer>> settle,
            Function<Generation, Future<Void>> loader) {
        return shard.recovery(new Shards(shard.store(), 1, Map.of("load", Script.read("load"))), settle, loader);
    }
}
