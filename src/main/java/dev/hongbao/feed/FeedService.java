package dev.hongbao.feed;

import dev.hongbao.access.Profile;
import dev.hongbao.access.Profiles;
import dev.hongbao.campaign.Campaigns;
import dev.hongbao.engine.Settlements.Audience;
import dev.hongbao.feed.FeedFollower.GroupFeed;
import dev.hongbao.packet.PacketService;
import dev.hongbao.packet.PacketView;
import dev.hongbao.values.Caller;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.Members;
import dev.hongbao.values.Named;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reads the feeds. One instance per event loop; call it on that loop only. */
public final class FeedService {
    /** Packets in a page's state. */
    public static final int STATE_PACKETS = 20;

    private final Vertx vertx;
    private final FeedFollower following;
    private final FeedReader reader;
    private final PacketService packets;
    private final Campaigns channels;
    private final Profiles profiles;

    FeedService(
            Vertx vertx,
            FeedFollower following,
            FeedReader reader,
            PacketService packets,
            Campaigns channels,
            Profiles profiles) {
        this.vertx = vertx;
        this.following = following;
        this.reader = reader;
        this.packets = packets;
        this.channels = channels;
        this.profiles = profiles;
    }

    /** The audience of a group. */
    public Future<Members> members(GroupId group) {
        return channels.members(group);
    }

    /** The listeners to other servers' events; followers of a group are counted already. */
    public Audience audience() {
        return following.audience();
    }

    /**
     * Follows a group.
     *
     * @param listener called on this loop when there may be something after any place: events, or the group going live. Never called from
     *     within this method
     */
    public Follower follow(GroupId group, Runnable listener) {
        return new Follower(following.follow(group, listener), listener);
    }

    /** A follower of a group; ends with {@link #close}. Confined to its event loop. */
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
        public @Nullable List<FeedPage.Event> since(long place) {
            return feed.since(place);
        }

        /** Reads the events after a place from Postgres. Concurrent reads of one place share the query. */
        public Future<FeedPage.Slice> read(long place) {
            return reader.read(feed.group(), place);
        }

        /** Ends the following. Idempotent. */
        public void close() {
            feed.unfollow(listener, System.nanoTime());
        }
    }

    /**
     * Reads a client's cursor.
     *
     * @return null for an invalid one
     */
    public static @Nullable Long place(String cursor) {
        return cursor.matches("0|[1-9][0-9]{0,17}") ? Long.valueOf(cursor) : null;
    }

    /**
     * A new cursor, and the current state, which is at least as new as the cursor.
     *
     * @param most packets in the state, 0 or more
     * @return refused with NOT_ELIGIBLE outside the caller's groups
     */
    public Future<FeedPage> state(Caller caller, GroupId group, FeedPage.Reset reason, int most) {
        return members(group)
                .compose(members -> members.include(caller)
                        ? reader.head(group)
                                .compose(head -> packets.newest(caller, group, members, most)
                                        .compose(newest -> profiles.of(PacketView.people(newest))
                                                .map(people -> new FeedPage(List.of(), head, reason, newest, people))))
                        : notEligible());
    }

    /** Runs or refuses a poll's reads of Postgres. A poll that only waits takes no place in a limit. */
    public interface Reads {
        /** Runs every read at once. */
        Reads ALL = new Reads() {
            @Override
            public <T> Future<T> make(Supplier<Future<T>> read) {
                return read.get();
            }
        };

        <T> Future<T> make(Supplier<Future<T>> read);
    }

    /** As {@link #poll(Caller, GroupId, Long, Duration, Reads)}, for a caller whose reads are limited elsewhere. */
    public Poll poll(Caller caller, GroupId group, @Nullable Long after, Duration wait) {
        return poll(caller, group, after, wait, Reads.ALL);
    }

    /**
     * The events after a cursor. Waits for some when there are none.
     *
     * @param after null for the current state
     * @param wait the longest wait, 0 for none
     * @param reads runs the reads of events; its refusal is the poll's answer
     */
    public Poll poll(Caller caller, GroupId group, @Nullable Long after, Duration wait, Reads reads) {
        Poll poll = new Poll(caller, group, after == null ? 0 : after, wait, reads);
        members(group)
                .onFailure(fault -> poll.answer(Future.failedFuture(fault)))
                .onSuccess(members -> {
                    if (!members.include(caller)) {
                        poll.answer(notEligible());
                    } else if (after == null) {
                        poll.answer(state(caller, group, FeedPage.Reset.START, STATE_PACKETS));
                    } else {
                        poll.begin();
                    }
                });
        return poll;
    }

    private static <T> Future<T> notEligible() {
        return Refusal.NOT_ELIGIBLE.failure(Reason.GROUP, Text.of("group.not-followed"));
    }

    /** One poll. Confined to its event loop. */
    public final class Poll {
        private final Caller caller;
        private final GroupId group;
        private final long from;
        private final long waitMillis;
        private final Reads reads;
        private final Promise<FeedPage> page = Promise.promise();
        private @Nullable Follower follower;
        private long timer;
        private long after = -1;
        private boolean reading;
        private boolean done;

        private Poll(Caller caller, GroupId group, long from, Duration wait, Reads reads) {
            this.caller = caller;
            this.group = group;
            this.from = from;
            this.waitMillis = wait.toMillis();
            this.reads = reads;
        }

        /** The answer; never completes after {@link #cancel}. */
        public Future<FeedPage> page() {
            return page.future();
        }

        /** Answers now, without events. */
        public void stopWaiting() {
            answer(Future.succeededFuture(FeedPage.of(List.of(), Math.max(after, from))));
        }

        /** Ends the poll without an answer. Idempotent. */
        public void cancel() {
            end();
        }

        private void begin() {
            if (done) {
                return; // cancelled meanwhile
            }
            after = from;
            if (waitMillis == 0) {
                read();
                return;
            }
            timer = vertx.setTimer(waitMillis, late -> answer(Future.succeededFuture(FeedPage.of(List.of(), after))));
            follower = follow(group, this::look);
            look();
        }

        /** Answers from memory if it has the events, else reads Postgres once. */
        private void look() {
            if (done || reading || follower == null) {
                return;
            }
            if (!follower.isLive()) {
                return; // called again once it is live
            }
            List<FeedPage.Event> events = follower.since(after);
            if (events == null || after > follower.head()) {
                read();
            } else if (!events.isEmpty()) {
                answer(Future.succeededFuture(FeedPage.of(events, follower.head())));
            }
        }

        private void read() {
            reading = true;
            reads.make(() -> reader.read(group, after))
                    .onFailure(fault -> answer(Future.failedFuture(fault)))
                    .onSuccess(slice -> {
                        reading = false;
                        FeedPage.Reset reset = slice.reset();
                        if (reset != null) {
                            answer(reads.make(() -> state(caller, group, reset, STATE_PACKETS)));
                        } else if (waitMillis == 0 || !slice.events().isEmpty()) {
                            answer(Future.succeededFuture(FeedPage.of(slice.events(), slice.to())));
                        } else {
                            after = Math.max(after, slice.to());
                            if (follower != null && follower.head() > after) {
                                look(); // an event arrived during the read
                            }
                        }
                    });
        }

        private void answer(Future<FeedPage> result) {
            if (!done) {
                end();
                result.onComplete(page);
            }
        }

        private void end() {
            if (done) {
                return;
            }
            done = true;
            if (waitMillis > 0 && follower != null) {
                vertx.cancelTimer(timer);
            }
            if (follower != null) {
                follower.close();
            }
        }
    }

    /**
     * The answer to a poll: the schema {@code EventPage} of asyncapi.yaml.
     *
     * @param items in order; may be empty
     * @param next the cursor for the next poll
     * @param reset null when the items follow the poller's cursor
     * @param packets the group's newest packets, newest first, with a reset; else empty
     * @param people profiles of the users in the packets; users without a profile are absent
     */
    public record FeedPage(
            List<Event> items,
            long next,
            @Nullable Reset reset,
            List<PacketView> packets,
            Map<UserId, Profile> people) {
        public FeedPage {
            items = List.copyOf(items);
            packets = List.copyOf(packets);
            people = Map.copyOf(people);
        }

        static FeedPage of(List<Event> items, long next) {
            return new FeedPage(items, next, null, List.of(), Map.of());
        }

        /** The reason for a reader to get the current state instead of the events after its cursor. */
        public enum Reset implements Named {
            /** It has no cursor. */
            START,
            /** Its cursor is older than the kept events. */
            CURSOR_TOO_OLD,
            /** Its cursor is not of this feed, as after a change of the database. */
            CURSOR_UNKNOWN
        }

        /**
         * A group's events in Postgres after a place.
         *
         * @param after the requested place
         * @param floor events up to this place may have been removed
         * @param last the place of the newest event; of a group without events, the one before its first
         * @param events in order
         * @param to the place up to which these events are complete
         */
        public record Slice(long after, long floor, long last, List<Event> events, long to) {
            public Slice {
                events = List.copyOf(events);
            }

            /** The reason why a reader cannot go on from {@code after}; null when it can. */
            public @Nullable Reset reset() {
                if (after < floor) {
                    return Reset.CURSOR_TOO_OLD;
                }
                return after > last ? Reset.CURSOR_UNKNOWN : null;
            }
        }

        /**
         * An event of a group's feed, rendered once for all readers. Deeply immutable in use: no code writes into {@code frame}.
         *
         * @param place its place in the group's feed, 1 or more; the cursor as a number
         * @param isProgress whether a later event of the same subject replaces this one
         * @param subject the packet, the draw or the rain
         * @param json the schema {@code Event} of openapi.yaml
         * @param frame the socket's {@code event} frame, UTF-8
         */
        public record Event(GroupId group, long place, boolean isProgress, UUID subject, String json, byte[] frame) {
            public static Event of(GroupId group, long place, boolean isProgress, UUID subject, String json) {
                byte[] frame = ("{\"type\":\"event\",\"event\":" + json + "}").getBytes(StandardCharsets.UTF_8);
                return new Event(group, place, isProgress, subject, json, frame);
            }
        }
    }
}
