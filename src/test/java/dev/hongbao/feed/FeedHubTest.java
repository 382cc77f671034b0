package dev.hongbao.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Settlements.Audience;
import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.values.GroupId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FeedHubTest {
    private static final GroupId GROUP = new GroupId("family");

    private final Vertx vertx = Vertx.vertx();

    /** The horizons that the hub asked from, in turn. */
    private final BlockingQueue<String> horizons = new LinkedBlockingQueue<>();

    private int questions;
    private int headsAsked;

    @AfterEach
    void close() {
        TestEngine.get(vertx.close());
    }

    /** From the second question on too many feeds changed, and the first look for the followed ones fails. */
    private Future<List<Map<String, Object>>> answer(String sql, Tuple parameters) {
        if (sql.contains("unnest($1::text[]) as")) {
            return ++headsAsked == 2
                    ? Future.failedFuture(new IllegalStateException("away"))
                    : Future.succeededFuture(List.of());
        }
        horizons.add(String.valueOf(parameters.getString(0)));
        String horizon = Integer.toString(++questions);
        List<Map<String, Object>> changed = new ArrayList<>(List.of(Map.of("horizon", horizon)));
        IntStream.range(0, questions == 1 ? 0 : FeedStore.MOST_CHANGED + 1)
                .forEach(i -> changed.add(Map.of("horizon", horizon, "group_id", "group-" + i, "last", 1L)));
        return Future.succeededFuture(changed);
    }

    @Test
    void whatAFailedLookLeftOutIsLookedForAgain() throws InterruptedException {
        Loop.passes(vertx, FeedHub.Part.class);
        FeedHub hub =
                new FeedHub(new FeedStore(StubPool.of(this::answer)), null, null, new Audience(), Duration.ofMillis(5));
        TestEngine.get(vertx.deployVerticle(hub));
        hub.track(GROUP, place -> {});

        List<String> asked = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            asked.add(horizons.poll(10, TimeUnit.SECONDS));
        }
        assertThat(asked).containsExactly("null", "1", "1", "3");
    }

    @Test
    void anAnswerFromMemoryIsNotLongerThanOneFromPostgres() {
        FeedFollower.GroupFeed feed = new FeedFollower.GroupFeed(GROUP);
        feed.begin(0);
        List<Integer> answers = new ArrayList<>();
        for (long place = 1; place <= 300; place++) {
            FeedPage.Event event = FeedPage.Event.of(GROUP, place, false, UUID.randomUUID(), "{}");
            feed.add(new FeedHub.Part(GROUP, place - 1, place, List.of(event), false));
            List<FeedPage.Event> all = feed.since(0);
            answers.add(all == null ? 0 : all.size());
        }

        assertThat(answers).contains(FeedStore.PIECE).allMatch(size -> size <= FeedStore.PIECE);
    }
}
