package dev.hongbao.domain.feed;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.Members;
import dev.hongbao.common.values.Reason;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.domain.packet.PacketService;
import dev.hongbao.domain.packet.PacketView;
import dev.hongbao.domain.profile.Profiles;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reading the feeds. One instance per event loop; call it on that loop only. */
public final class FeedService {
    /** Packets in the state of a page. */
    public static final int STATE_PACKETS = 20;

    /** The longest wait of a poll; a proxy in between would cut longer ones. */
    public static final Duration MAX_WAIT = Duration.ofSeconds(30);

    private final Vertx vertx;
    private final FeedFollower following;
    private final FeedReader reader;
    private final PacketService packets;
    private final Channels channels;
    private final Profiles profiles;
    private int waiting;

    public FeedService(
            Vertx vertx,
            FeedFollower following,
            FeedReader reader,
            PacketService packets,
            Channels channels,
            Profiles profiles) {
        this.vertx = vertx;
        this.following = following;
        this.reader = reader;
        this.packets = packets;
        this.channels = channels;
        this.profiles = profiles;
    }

    /** Who may follow a group. */
    public Future<Members> members(GroupId group) {
        return channels.members(group);
    }

    /** For those who follow on and on. */
    public FeedFollower following() {
        return following;
    }

    /** Polls that wait on this loop. */
    public int waiting() {
        return waiting;
    }

    /**
     * Reads a cursor that a client gave.
     *
     * @return null when it is not one
     */
    public static @Nullable Long place(String cursor) {
        return cursor.matches("0|[1-9][0-9]{0,17}") ? Long.valueOf(cursor) : null;
    }

    /**
     * Where to go on from now, and the current state, which is at least as new.
     *
     * @param most packets in the state, 0 or more
     * @return refused with NOT_ELIGIBLE outside the caller's groups
     */
    public Future<FeedPage> state(Caller caller, GroupId group, ResetReason reason, int most) {
        return members(group)
                .compose(members -> members.include(caller)
                        ? reader.head(group)
                                .compose(head -> packets.newest(caller, group, members, most)
                                        .compose(newest -> profiles.of(PacketView.people(newest))
                                                .map(people -> new FeedPage(List.of(), head, reason, newest, people))))
                        : notEligible());
    }

    /** Makes a read of Postgres, or refuses it: a poll that waits holds nothing but while it reads. */
    public interface Reads {
        /** As they come. */
        Reads ALL = new Reads() {
            @Override
            public <T> Future<T> make(Supplier<Future<T>> read) {
                return read.get();
            }
        };

        <T> Future<T> make(Supplier<Future<T>> read);
    }

    /** As {@link #poll(Caller, GroupId, Long, Duration, Reads)}, of a caller whose reads are counted elsewhere. */
    public Poll poll(Caller caller, GroupId group, @Nullable Long after, Duration wait) {
        return poll(caller, group, after, wait, Reads.ALL);
    }

    /**
     * The events after a cursor; waits for some when there are none.
     *
     * @param after null for the current state
     * @param wait how long at the most, 0 for not at all; more than {@link #MAX_WAIT} is cut
     * @param reads makes those of the events; one that is refused is the poll's answer
     */
    public Poll poll(Caller caller, GroupId group, @Nullable Long after, Duration wait, Reads reads) {
        Duration cut = wait.compareTo(MAX_WAIT) > 0 ? MAX_WAIT : wait;
        Poll poll = new Poll(caller, group, after == null ? 0 : after, cut, reads);
        members(group)
                .onFailure(fault -> poll.answer(Future.failedFuture(fault)))
                .onSuccess(members -> {
                    if (!members.include(caller)) {
                        poll.answer(notEligible());
                    } else if (after == null) {
                        poll.answer(state(caller, group, ResetReason.START, STATE_PACKETS));
                    } else {
                        poll.begin();
                    }
                });
        return poll;
    }

    private static <T> Future<T> notEligible() {
        return Future.failedFuture(
                new RefusedException(Refusal.NOT_ELIGIBLE, Reason.GROUP, Text.of("group.not-followed")));
    }

    /** One poll on its way. Confined to its event loop. */
    public final class Poll {
        private final Caller caller;
        private final GroupId group;
        private final long from;
        private final long waitMillis;
        private final Reads reads;
        private final Promise<FeedPage> page = Promise.promise();
        private FeedFollower.@Nullable Follower follower;
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

        /** Answers now, with what there is: nothing. */
        public void stopWaiting() {
            answer(Future.succeededFuture(FeedPage.of(List.of(), Math.max(after, from))));
        }

        /** Nobody waits any more. Idempotent. */
        public void cancel() {
            end();
        }

        private void begin() {
            if (done) {
                return; // nobody waits any more
            }
            after = from;
            waiting++;
            if (waitMillis == 0) {
                read();
                return;
            }
            timer = vertx.setTimer(waitMillis, late -> answer(Future.succeededFuture(FeedPage.of(List.of(), after))));
            follower = following.follow(group, this::look);
            look();
        }

        /** From memory when the events are there, else from Postgres, once. */
        private void look() {
            if (done || reading || follower == null) {
                return;
            }
            if (!follower.isLive()) {
                return; // called again when it is
            }
            List<FeedEvent> events = follower.since(after);
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
                        ResetReason reset = slice.reset();
                        if (reset != null) {
                            answer(reads.make(() -> state(caller, group, reset, STATE_PACKETS)));
                        } else if (waitMillis == 0 || !slice.events().isEmpty()) {
                            answer(Future.succeededFuture(FeedPage.of(slice.events(), slice.to())));
                        } else {
                            after = Math.max(after, slice.to());
                            if (follower != null && follower.head() > after) {
                                look(); // it came while this was read
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
            if (after >= 0) {
                waiting--;
            }
        }
    }
}
