package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Killable;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Servers.class)
class ShardsIT {
    @Test
    void anotherStartOfPostgresMayBeARestoreSoCachesAreCleared(@Killable TestServers servers) {
        OneShard.make(servers);
        AtomicInteger cleared = new AtomicInteger();
        AtomicInteger before = new AtomicInteger();

        OneShard.on(servers, one -> {
            // Given a server that knows Postgres
            Shards shards = new Shards(one.store(), 1, Map.of());
            shards.whenPostgresWentBack(cleared::incrementAndGet);
            return shards.refresh()
                    .compose(first -> shards.refresh())
                    .onSuccess(second -> before.set(cleared.get()))
                    // When
                    .compose(second -> one.vertx().executeBlocking(() -> {
                        servers.stopPostgres();
                        servers.startPostgres();
                        return null;
                    }))
                    .compose(started -> untilItAnswers(one.vertx(), shards::refresh));
        });

        // Then
        assertThat(before).hasValue(0);
        assertThat(cleared).hasValue(1);
    }

    @Test
    void aRestoreThatManyShardsTellOfClearsTheCachesOnce(TestServers servers) {
        TestEngine.start(servers, 1, Map.of("shards", "4")).close();
        AtomicInteger cleared = new AtomicInteger();

        OneShard.on(servers, one -> {
            // Given a server that knows all shards
            Shards shards = new Shards(one.store(), 4, Map.of());
            shards.whenPostgresWentBack(cleared::incrementAndGet);
            return shards.refresh()
                    // When all of them have recovered from a restore
                    .compose(known -> one.pool()
                            .query("update shard set epoch = epoch + 1, restored = epoch + 1")
                            .execute())
                    .compose(restored -> shards.refresh())
                    .compose(met -> shards.refresh());
        });

        // Then
        assertThat(cleared).hasValue(1);
    }

    /** The connections from before have ended. */
    private static Future<Void> untilItAnswers(Vertx vertx, Supplier<Future<Void>> question) {
        return question.get().recover(fault -> vertx.timer(20).compose(later -> untilItAnswers(vertx, question)));
    }
}
