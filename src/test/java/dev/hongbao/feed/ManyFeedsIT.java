package dev.hongbao.feed;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.engine.Installation;
import dev.hongbao.engine.ShardStore;
import dev.hongbao.engine.ShardStore.ShardRow;
import dev.hongbao.store.postgres.Postgres;
import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A restored backup begins the feeds of all groups anew, however many there are. */
@ExtendWith(Servers.class)
class ManyFeedsIT {
    private static final int GROUPS = 100_000;

    @Test
    void aGenerationIsDrawnThoughItTakesLonger(TestServers servers) {
        // Given many groups, and a limit that is too short for them
        Books books = new Books(servers);
        TestEngine.start(servers, 1, Map.of("shards", "1")).close();
        books.execute(
                "insert into feed (group_id, last) select 'g' || n, 5 from generate_series(1, " + GROUPS + ") as n");
        Vertx vertx = Vertx.vertx();
        try {
            Postgres postgres = new Postgres(vertx, PostgresAddress.of(servers.postgresAppUrl()));
            Pool brief = postgres.pool("brief", 1, 1, Duration.ofMillis(100));
            Pool lengthy = postgres.pool("lengthy", 1, 1, Postgres.LONG);
            Installation installation = get(Installation.read(lengthy, null));
            ShardRow row = get(new ShardStore(lengthy, installation).readAll()).get(0);
            assertThatThrownBy(() -> get(new ShardStore(brief, installation)
                            .drawNext(row.generation(), row.generation().epoch(), true, "")))
                    .hasMessageContaining("statement timeout");
            FeedStore feeds = new FeedStore(lengthy);
            String horizon = get(feeds.changed(null)).horizon();

            // When Postgres went back
            ShardRow drawn = get(new ShardStore(brief, lengthy, installation)
                    .drawNext(row.generation(), row.generation().epoch(), true, ""));

            // Then
            assertThat(drawn.restored()).isEqualTo(drawn.generation().epoch());
            assertThat(books.longOf("select count(*) from feed where floor > 0 and last = floor"))
                    .isEqualTo(GROUPS);

            // and one who asks what is new is not told of each
            FeedStore.Changes changes = get(feeds.changed(horizon));
            assertThat(changes.more()).isTrue();
            assertThat(changes.last()).hasSizeLessThanOrEqualTo(FeedStore.MOST_CHANGED + 1);
        } finally {
            get(vertx.close());
        }
    }
}
