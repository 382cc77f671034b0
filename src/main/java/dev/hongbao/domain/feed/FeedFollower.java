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
 * The feeds followed on one event loop. Created and used on that loop only. A group without followers is kept for some seconds, since a
 * poller comes back.
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

    /** A follower of a group; ends with {@link #close}. */
    public final class Follower {
        private final GroupFeed feed;
        private final Runnable listener;

        private Follower(GroupFeed feed, Runnable listener) {
            this.feed = feed;
            this.listener = listener;
        }

        /** Whether this server receives the group's events by now. Until then {@link #since} has none. */
        public boolean isLive() {
            return feed.isLive();
        }

        /** The newest place received; only when live. */
        public long head() {
            return feed.head();
        }

        /** The events after a place, in order, valid until the loop goes on. Null when they are not all in memory: then {@link #read}. */
        public @Nullable List<FeedEvent> since(long place) {
            return feed.since(place);
        }

        /** Reads the events after a place from Postgres. Concurrent reads of one place share the query. */
        public Future<FeedSlice> read(long place) {
            return reader.read(feed.group(), place);
        }

        /** Ends the following. Idempotent. */
        public void close() {
            feed.unfollow(listener, System.nanoTime());
        }
    }

    /**
     * Follows a group.
     *
     * @param listener called on this loop when there may be something after any place: events, or the group going live. Never called from
     *     within this method
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

    /** The listeners to other servers' events; followers of a group are counted already. */
    public Audience audience() {
        return hub.audience();
    }

    /** The number of groups followed on this loop. */
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
