package dev.hongbao.feed;

import dev.hongbao.engine.Settlements.Audience;
import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.values.GroupId;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The feeds followed on one event loop. Created and used on that loop only. A group without followers is kept for some seconds, since a
 * poller comes back.
 */
final class FeedFollower {
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long SWEEP_MILLIS = 5_000;

    private final Vertx vertx;
    private final FeedHub hub;
    private final Map<GroupId, GroupFeed> feeds = new HashMap<>();

    FeedFollower(Vertx vertx, FeedHub hub) {
        this.vertx = vertx;
        this.hub = hub;
        vertx.eventBus().<FeedHub.Part>localConsumer(FeedHub.Part.ADDRESS, part -> {
            GroupFeed feed = feeds.get(part.body().group());
            if (feed != null) {
                feed.add(part.body());
            }
        });
        vertx.setPeriodic(SWEEP_MILLIS, tick -> sweep());
    }

    /** The group's feed, with this listener; see {@link FeedService#follow}. */
    GroupFeed follow(GroupId group, Runnable listener) {
        GroupFeed feed = feeds.get(group);
        if (feed == null) {
            GroupFeed fresh = new GroupFeed(group);
            feeds.put(group, fresh);
            var loop = vertx.getOrCreateContext();
            hub.track(group, place -> loop.runOnContext(now -> fresh.begin(place)));
            feed = fresh;
        }
        feed.follow(listener);
        return feed;
    }

    /** The listeners to other servers' events; followers of a group are counted already. */
    Audience audience() {
        return hub.audience();
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

    /** A followed group on one event loop: its newest events, which need no query, and its followers. Confined to its event loop. */
    static final class GroupFeed {
        private static final Logger LOG = LoggerFactory.getLogger(GroupFeed.class);

        /** Events kept, and so the most of an answer, as from Postgres. A follower further behind reads Postgres. */
        private static final int KEPT = FeedStore.PIECE;

        private final GroupId group;
        private final Set<Runnable> followers = new LinkedHashSet<>();
        private final List<FeedPage.Event> events = new ArrayList<>();
        private long after = -1;
        private long to = -1;
        private long idleSinceNanos;

        GroupFeed(GroupId group) {
            this.group = group;
        }

        GroupId group() {
            return group;
        }

        /** Whether {@link #head} is known. */
        boolean isLive() {
            return to >= 0;
        }

        /** The newest place received; -1 before it is live. */
        long head() {
            return to;
        }

        void begin(long place) {
            if (!isLive()) {
                after = place;
                to = place;
            }
            tell();
        }

        void add(FeedHub.Part part) {
            if (part.restart()) {
                events.clear();
                after = part.to();
                to = part.to();
                tell();
                return;
            }
            if (!isLive() || part.to() <= to) {
                return;
            }
            if (part.after() > to) {
                events.clear(); // events were missed: followers behind read Postgres
                after = part.after();
            }
            for (FeedPage.Event event : part.events()) {
                if (event.place() > to) {
                    events.add(event);
                }
            }
            to = part.to();
            if (events.size() > KEPT) {
                List<FeedPage.Event> old = events.subList(0, events.size() - KEPT / 2);
                after = old.get(old.size() - 1).place();
                old.clear();
            }
            tell();
        }

        /** The events after a place, in order, valid until the loop goes on. Null when they are not all kept. */
        @Nullable
        List<FeedPage.Event> since(long place) {
            if (place >= to) {
                return List.of();
            }
            if (place < after) {
                return null;
            }
            int from = events.size();
            while (from > 0 && events.get(from - 1).place() > place) {
                from--;
            }
            return events.subList(from, events.size());
        }

        void follow(Runnable follower) {
            followers.add(follower);
        }

        void unfollow(Runnable follower, long nowNanos) {
            followers.remove(follower);
            idleSinceNanos = nowNanos;
        }

        boolean isIdle(long nowNanos, long forNanos) {
            return followers.isEmpty() && nowNanos - idleSinceNanos > forNanos;
        }

        private void tell() {
            for (Runnable follower : followers.toArray(Runnable[]::new)) {
                try {
                    follower.run();
                } catch (RuntimeException fault) {
                    LOG.error("a listener of {} failed; the others go on", group, fault);
                }
            }
        }
    }
}
