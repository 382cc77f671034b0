package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.ShardStore.ShardRow;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgBuilder;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ShardsTest {
    private final Vertx vertx = Vertx.vertx();
    private final AtomicInteger forgotten = new AtomicInteger();

    /** @param restored the epoch that the last restore of Postgres began; 0 for none */
    private static ShardRow row(long epoch, long restored) {
        return new ShardRow(new Generation("test", 0, epoch, "nonce"), 0, "", restored, Set.of());
    }

    private Shards shards() {
        ShardStore nowhere =
                new ShardStore(PgBuilder.pool().using(vertx).build(), new Installation(new UUID(0, 0), "test"));
        Shards shards = new Shards(nowhere, 1, Map.of());
        shards.whenPostgresWentBack(forgotten::incrementAndGet);
        return shards;
    }

    @AfterEach
    void close() {
        vertx.close();
    }

    @Test
    void aServerThatWasThereForgetsWhatItRememberedOfAPostgresThatWentBack() {
        // Given
        Shards shards = shards();
        shards.adopt(row(5, 0));

        // When
        shards.adopt(row(7, 6));

        // Then
        assertThat(forgotten).hasValue(1);

        // When the restart of another server has the shard recovered
        shards.adopt(row(8, 6));

        // Then
        assertThat(forgotten).hasValue(1);
    }

    @Test
    void aServerThatStartsAfterARestoreHasNothingToForget() {
        // Given
        Shards shards = shards();

        // When
        shards.adopt(row(7, 6));
        shards.adopt(row(8, 6));

        // Then
        assertThat(forgotten).hasValue(0);
    }
}
