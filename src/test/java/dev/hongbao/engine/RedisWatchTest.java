package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.ShardStore.ShardRow;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.testing.StubLink;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.pgclient.PgBuilder;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.impl.types.BulkType;
import io.vertx.redis.client.impl.types.MultiType;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RedisWatchTest {
    private final Vertx vertx = Vertx.vertx();

    @AfterEach
    void close() {
        vertx.close();
    }

    private static Response text(String value) {
        return BulkType.create(Buffer.buffer(value), false);
    }

    /** A slot by an old map of a cluster. The node there answers MOVED to a key, so the command and all later ones go to another node. */
    private static RedisLink movedSlot() {
        String[] replid = {"old"};
        return new StubLink(request -> {
            if (request.command() == Command.INFO) {
                return Future.succeededFuture(text("master_replid:" + replid[0] + "\r\n"));
            }
            if (request.command() == Command.XINFO) {
                replid[0] = "new";
                MultiType stream = MultiType.create(2, true);
                stream.add(text("last-generated-id"));
                stream.add(text("7-3"));
                return Future.succeededFuture(stream);
            }
            if (request.command() == Command.ZSCORE) {
                replid[0] = "new";
                return Future.succeededFuture(text("7"));
            }
            return Future.succeededFuture(MultiType.EMPTY_MULTI); // SCRIPT EXISTS of no script
        });
    }

    @Test
    void aMapOfTheClusterFromBeforeTheSlotMovedBreaksNoShard() {
        // Given a shard whose Redis is as its recovery left it, behind such a slot
        RedisLink slot = movedSlot();
        RedisLinks links = (RedisLinks) Proxy.newProxyInstance(
                RedisLinks.class.getClassLoader(), new Class<?>[] {RedisLinks.class}, (self, asked, with) -> slot);
        Installation installation = new Installation(new UUID(0, 0), "test");
        Shards shards = new Shards(new ShardStore(PgBuilder.pool().using(vertx).build(), installation), 1, Map.of());
        RedisWatch watch = new RedisWatch(Loop.of(vertx), links, shards);

        // When
        List<Future<Boolean>> looks =
                watch.look(List.of(new ShardRow(new Generation("test", 0, 7, "nonce"), 3, "new", 0, Set.of())));

        // Then
        assertThat(looks.get(0).result()).isTrue();
    }
}
