package dev.hongbao.domain.feed;

import dev.hongbao.common.values.GroupId;
import dev.hongbao.engine.cluster.Audience;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The feeds that one event loop follows. Make it and use it on that loop only. A group that nobody follows any more is kept
 * for some seconds, since a poller comes back.
 */
public final class FeedFollower {
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long SWEEP_MILLIS = 5_000;

    private final Vertx vertx;
    private final FeedHub hub;
    private final FeedReader reader;
    private final Map<GroupId, GroupFeed> feeds = new HashMap<>();

    public FeedFollower(Vertx vertx, FeedHub hub, FeedReader reader) {
        this.vertx = vertx;
        this.hub = hub;
        this.reader = reader;
        vertx.eventBus().<FeedPart>localConsumer(FeedPart.ADDRESS, part -> {
            GroupFeed feed = feeds.get(part.body().group());
            if (feed != null) {
                feed.add(part.body());
            }
        });
        vertx.setPeriodic(SWEEP_MILLIS, tick -> sweep());
    }

    /** One who follows a group; ends with {@link #close}. */
    public final class Follower {
        private final GroupFeed feed;
        private final Runnable listener;

        private Follower(GroupFeed feed, Runnable listener) {
            this.feed = feed;
            this.listener = listener;
        }

        /** Whether this server hears of the group's events by now; until then {@link #since} knows nothing. */
        public boolean isLive() {
            return feed.isLive();
        }

        /** The newest place that was heard of; only when live. */
        public long head() {
            return feed.head();
        }

        /** The events after a place, in order, to be used at once; null when Postgres must be asked: {@link #read}. */
        public @Nullable List<FeedEvent> since(long place) {
            return feed.since(place);
        }

        /** Asks Postgres for the events after a place; those who ask the same at the same time share the query. */
        public Future<FeedSlice> read(long place) {
            return reader.read(feed.group(), place);
        }

        /** Hears of nothing more. Idempotent. */
        public void close() {
            feed.unfollow(listener, System.nanoTime());
        }
    }

    /**
     * Follows a group.
     *
     * @param listener called on this loop when there may be something after any place: events, or the group going live. Never
     *     called from within this method
     */
    public Follower follow(GroupId group, Runnable listener) {
        GroupFeed feed = feeds.get(group);
        if (feed == null) {
            GroupFeed fresh = new GroupFeed(group);
            feeds.put(group, fresh);
            var loop = vertx.getOrCreateContext();
            hub.track(group, place -> loop.runOnContext(now -> fresh.begin(place)));
            feed = fresh;
        }
        feed.follow(listener);
        return new Follower(feed, listener);
    }

    /** Whoever wants to hear of other servers' events; who follows a group is in it already. */
    public Audience audience() {
        return hub.audience();
    }

    /** The groups that are followed on this loop. */
    public int groups() {
        return feeds.size();
    }

    private void sweep() {
        long now = System.nanoTime();
        feeds.values().removeIf(feed -> {
            boolean idle = feed.isIdle(now, IDLE_NANOS);
            if (idle) {
                hub.untrack(feed.group());
            }
            return idle;
        });
    }
}
