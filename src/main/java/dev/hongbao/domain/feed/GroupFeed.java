package dev.hongbao.domain.feed;

import dev.hongbao.common.values.GroupId;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A followed group on one event loop: its newest events, which need no query, and its followers. Confined to its event loop. */
final class GroupFeed {
    private static final Logger LOG = LoggerFactory.getLogger(GroupFeed.class);

    /** Events kept. A follower further behind reads Postgres. */
    private static final int KEPT = 256;

    private final GroupId group;
    private final Set<Runnable> followers = new LinkedHashSet<>();
    private final List<FeedEvent> events = new ArrayList<>();
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

    void add(FeedPart part) {
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
        for (FeedEvent event : part.events()) {
            if (event.place() > to) {
                events.add(event);
            }
        }
        to = part.to();
        if (events.size() > KEPT) {
            List<FeedEvent> old = events.subList(0, events.size() - KEPT / 2);
            after = old.get(old.size() - 1).place();
            old.clear();
        }
        tell();
    }

    /** The events after a place, in order, valid until the loop goes on. Null when they are not all kept. */
    @Nullable
    List<FeedEvent> since(long place) {
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
