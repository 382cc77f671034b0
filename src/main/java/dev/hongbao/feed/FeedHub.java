package dev.hongbao.feed;

import dev.hongbao.engine.Settlements.Audience;
import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.feed.FeedStore.Changes;
import dev.hongbao.feed.FeedStore.Piece;
import dev.hongbao.store.postgres.Rows.Pages;
import dev.hongbao.values.GroupId;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls the feeds of all groups that are followed on this server, and publishes their events to every event loop. One instance a server, on
 * its own loop; {@link #track} and {@link #untrack} may be called from any thread.
 *
 * <p>One query finds the changed feeds, for any number of groups. It runs at every interval, and soon after this server has written events,
 * see {@link Audience#NUDGE}.
 */
final class FeedHub extends VerticleBase {
    private static final Logger LOG = LoggerFactory.getLogger(FeedHub.class);

    /** The longest wait for Postgres. A lost connection may never answer, and would stop all feeds. */
    private static final long ANSWER_SECONDS = 10;

    /** The least time between two queries: under load at most fifty a second, not one a commit. */
    private static final long MIN_GAP_NANOS = 20_000_000;

    private final FeedStore store;
    private final EventText renderer;
    private final RemoteClaims elsewhere;
    private final Duration interval;
    private final Audience audience;
    private final Map<GroupId, Tracked> groups = new HashMap<>();
    private final Map<GroupId, Tracked> unknown = new HashMap<>();
    private @Nullable String horizon;
    private boolean asking;
    private long answered;
    private boolean nudged;
    private boolean waiting;
    private boolean failing;
    private long lastAskedNanos;

    private static final class Tracked {
        private final List<LongConsumer> starts = new ArrayList<>();
        private int followers;
        private long told = -1;
        private long target;
    }

    FeedHub(FeedStore store, EventText renderer, RemoteClaims elsewhere, Audience audience, Duration interval) {
        this.audience = audience;
        this.store = store;
        this.renderer = renderer;
        this.elsewhere = elsewhere;
        this.interval = interval;
    }

    @Override
    public Future<?> start() {
        vertx.eventBus().localConsumer(Audience.NUDGE, nudge -> nudge());
        vertx.eventBus().localConsumer(Audience.NUDGED, nudge -> nudge());
        vertx.setPeriodic(interval.toMillis(), tick -> nudge());
        return Future.succeededFuture();
    }

    /** The listeners to other servers' events; followers of a group are counted already. */
    Audience audience() {
        return audience;
    }

    /**
     * Follows a group until {@link #untrack}, which is called once for each call.
     *
     * @param start receives once the place from which on all events are published. Called on the hub's own thread, before the first of
     *     these events
     */
    void track(GroupId group, LongConsumer start) {
        audience.joined();
        context.runOnContext(now -> {
            Tracked tracked = groups.computeIfAbsent(group, name -> {
                Tracked fresh = new Tracked();
                unknown.put(group, fresh);
                return fresh;
            });
            tracked.followers++;
            if (tracked.told >= 0) {
                start.accept(tracked.told);
            } else {
                tracked.starts.add(start);
                nudge();
            }
        });
    }

    /** Starts all feeds anew. For a Postgres that stepped back: known places may be beyond their feed. Followers then read Postgres. */
    void restart() {
        context.runOnContext(now -> {
            horizon = null;
            answered++; // no answer of the Postgres from before counts
            groups.forEach(this::restart);
            nudge();
        });
    }

    private void restart(GroupId group, Tracked tracked) {
        tracked.told = -1;
        tracked.target = 0;
        unknown.put(group, tracked);
    }

    /** Ends one {@link #track}. */
    void untrack(GroupId group) {
        audience.left();
        context.runOnContext(now -> {
            Tracked tracked = groups.get(group);
            if (tracked != null && --tracked.followers == 0) {
                groups.remove(group);
                unknown.remove(group);
            }
        });
    }

    private void nudge() {
        if (asking || waiting) {
            nudged = true;
            return;
        }
        if (groups.isEmpty()) {
            horizon = null; // no follower: the next query starts anew
            return;
        }
        long gap = MIN_GAP_NANOS - (System.nanoTime() - lastAskedNanos);
        if (gap > 0) {
            waiting = true;
            vertx.setTimer(gap / 1_000_000 + 1, later -> {
                waiting = false;
                ask();
            });
        } else {
            ask();
        }
    }

    private void ask() {
        asking = true;
        nudged = false;
        lastAskedNanos = System.nanoTime();
        long question = answered;
        // Heads are read after the horizon, so an event committed in between is published twice rather than never.
        store.changed(horizon)
                .compose(changes -> heads(changes)
                        // A late answer must not replace a newer query's.
                        .compose(heads -> question == answered ? moved(heads) : Future.failedFuture("too late"))
                        // Not before: the next query finds what this one could not.
                        .onSuccess(known -> horizon = changes.horizon()))
                .compose(done -> readHeads())
                .compose(done -> readAll())
                .timeout(ANSWER_SECONDS, TimeUnit.SECONDS)
                .onComplete(done -> {
                    asking = false;
                    answered++;
                    if (done.failed()) {
                        tellFailure(done.cause());
                    } else {
                        failing = false;
                        if (nudged) {
                            nudge();
                        }
                    }
                });
    }

    /** Logs the first of consecutive failures. A later poll finds the missed events. */
    private void tellFailure(Throwable fault) {
        if (!failing) {
            LOG.warn("the feeds cannot be read and are tried again: {}", fault.toString());
        }
        failing = true;
    }

    private Future<Map<GroupId, Long>> heads(Changes changes) {
        return changes.more() ? store.heads(List.copyOf(groups.keySet())) : Future.succeededFuture(changes.last());
    }

    private Future<Void> moved(Map<GroupId, Long> heads) {
        heads.forEach((group, last) -> {
            Tracked tracked = groups.get(group);
            if (tracked != null && last < tracked.told) {
                restart(group, tracked);
            } else if (tracked != null) {
                tracked.target = Math.max(tracked.target, last);
            }
        });
        return Future.succeededFuture();
    }

    private Future<Void> readHeads() {
        if (unknown.isEmpty()) {
            return Future.succeededFuture();
        }
        Map<GroupId, Tracked> asked = new HashMap<>(unknown);
        return store.heads(asked.keySet()).map(heads -> {
            asked.forEach((group, tracked) -> {
                if (unknown.remove(group, tracked)) {
                    tracked.told = heads.getOrDefault(group, 0L);
                    vertx.eventBus()
                            .publish(Part.ADDRESS, new Part(group, tracked.told, tracked.told, List.of(), true));
                    tracked.starts.forEach(start -> start.accept(tracked.told));
                    tracked.starts.clear();
                }
            });
            return null;
        });
    }

    /** Reads and publishes all known events. */
    private Future<Void> readAll() {
        return Pages.repeat(this::readPieces);
    }

    /**
     * Reads and publishes a piece of each feed that is behind.
     *
     * @return whether there was one
     */
    private Future<Boolean> readPieces() {
        Map<GroupId, Long> behind = new HashMap<>();
        groups.forEach((group, tracked) -> {
            if (tracked.told >= 0 && tracked.told < tracked.target) {
                behind.put(group, tracked.told);
            }
        });
        if (behind.isEmpty()) {
            return Future.succeededFuture(false);
        }
        return store.read(behind)
                .compose(pieces -> renderer.render(pieces.stream()
                                .flatMap(piece -> piece.rows().stream())
                                .toList())
                        .map(events -> {
                            publish(pieces, events);
                            return true;
                        }));
    }

    private void publish(List<Piece> pieces, List<FeedPage.Event> events) {
        Map<GroupId, List<FeedPage.Event>> byGroup = new HashMap<>();
        events.forEach(event -> byGroup.computeIfAbsent(event.group(), group -> new ArrayList<>())
                .add(event));
        for (Piece piece : pieces) {
            Tracked tracked = groups.get(piece.group());
            if (tracked == null || tracked.told != piece.after()) {
                continue; // untracked meanwhile, perhaps tracked anew
            }
            boolean full = piece.rows().size() == FeedStore.PIECE;
            long to = full ? piece.rows().get(FeedStore.PIECE - 1).place() : piece.last();
            tracked.told = to;
            elsewhere.seen(piece.rows());
            if (!full) {
                tracked.target = Math.min(tracked.target, to);
            }
            // Events up to the floor may be removed. Followers must read Postgres, which tells them.
            boolean gone = piece.after() < piece.floor();
            vertx.eventBus()
                    .publish(
                            Part.ADDRESS,
                            new Part(
                                    piece.group(),
                                    gone ? to : piece.after(),
                                    to,
                                    gone ? List.of() : byGroup.getOrDefault(piece.group(), List.of()),
                                    gone));
        }
    }

    /**
     * The next piece of a group's feed. The server's hub publishes it on the event bus at {@link #ADDRESS}, in order and without gaps while the
     * group is tracked. Immutable.
     *
     * @param after the place before the piece
     * @param to the last place of the piece; {@code events} has every event in between that still exists
     * @param restart whether the feed starts anew at {@code to}, which may be an earlier place after Postgres stepped back
     */
    record Part(GroupId group, long after, long to, List<FeedPage.Event> events, boolean restart) {
        static final String ADDRESS = "feed.part";

        Part {
            events = List.copyOf(events);
        }
    }
}
