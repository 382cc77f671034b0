package dev.hongbao.feed;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Feeds of more groups than one answer names. */
@ExtendWith(Servers.class)
class ManyFeedsIT {
    private static final int GROUPS = 2 * FeedStore.MOST_CHANGED;

    @Test
    void whoAsksAfterManyChangesIsNotToldOfEach(TestServers servers) {
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "1"))) {
            FeedStore feeds = new FeedStore(engine.engine().pool());
            String horizon = get(feeds.changed(null)).horizon();

            new Books(servers)
                    .execute("insert into feed (group_id, last) select 'g' || n, 5 from generate_series(1, " + GROUPS
                            + ") as n");

            FeedStore.Changes changes = get(feeds.changed(horizon));
            assertThat(changes.more()).isTrue();
            assertThat(changes.last()).hasSizeLessThanOrEqualTo(FeedStore.MOST_CHANGED + 1);
        }
    }
}
