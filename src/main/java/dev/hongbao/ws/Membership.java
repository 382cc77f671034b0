package dev.hongbao.ws;

import dev.hongbao.feed.FeedService;
import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.Members;
import io.vertx.core.Vertx;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A connection's place in one group's feed. Continues from there whenever there are events and the reader has room. A slow reader
 * holds nothing here: missed events stay in the feed. Confined to the connection's event loop.
 */
final class Membership {
    /** Wait after a failed read, or one refused by the user's limit of calls in flight. */
    private static final long RETRY_MILLIS = 500;

    private final Vertx vertx;
    private final Connection connection;
    private final GroupId group;
    private final Members members;
    private final int statePackets;
    private final FeedService.Follower follower;
    private long place;
    private long lastHead = -1;
    private boolean placeIsKnown;
    private boolean reading;
    private boolean closed;

    /**
     * @param members permitted users
     * @param place from which the reader continues
     * @param isOwn whether the place is this server's own; a client's may be of another history
     * @param statePackets packets to list in a reset
     */
    Membership(Connection connection, GroupId group, Members members, long place, boolean isOwn, int statePackets) {
        this.vertx = connection.face().vertx();
        this.connection = connection;
        this.group = group;
        this.members = members;
        this.place = place;
        this.placeIsKnown = isOwn;
        this.statePackets = statePackets;
        this.follower = connection.face().feed().follow(group, this::advance);
    }

    /** Users who may follow the group. */
    Members members() {
        return members;
    }

    /** Sends available events, as far as the reader has room. */
    void advance() {
        if (closed || reading || !follower.isLive() || !connection.hasRoom()) {
            return;
        }
        long head = follower.head();
        placeIsKnown &= head >= lastHead; // a feed that begins anew: Postgres went back
        lastHead = head;
        List<FeedPage.Event> events = follower.since(place);
        if (events == null || (!placeIsKnown && place > head)) {
            read();
        } else if (!events.isEmpty()) {
            send(events, head);
        }
    }

    /** Stops following. Idempotent. */
    void close() {
        if (!closed) {
            closed = true;
            follower.close();
        }
    }

    private void read() {
        reading = true;
        connection.read(follower, place).onFailure(fault -> later()).onSuccess(slice -> {
            reading = false;
            if (!closed) {
                FeedPage.Reset reset = slice.reset();
                if (reset == null) {
                    goOn(slice);
                } else {
                    reset(reset);
                }
            }
        });
    }

    private void later() {
        vertx.setTimer(RETRY_MILLIS, again -> {
            reading = false;
            advance();
        });
    }

    private void goOn(FeedPage.Slice slice) {
        placeIsKnown = true;
        if (send(slice.events(), slice.to())) {
            advance();
        }
    }

    private void reset(FeedPage.Reset reason) {
        reading = true;
        connection
                .state(group, reason, statePackets)
                .onFailure(fault -> later())
                .onSuccess(state -> {
                    reading = false;
                    if (!closed) {
                        placeIsKnown = true;
                        place = state.next();
                        connection.send(ServerFrames.reset(group, state));
                        advance();
                    }
                });
    }

    /** Whether all of it went out. */
    private boolean send(List<FeedPage.Event> events, long to) {
        for (int i = 0; i < events.size(); i++) {
            if (!connection.hasRoom()) {
                return false; // continues from its place when there is room
            }
            FeedPage.Event event = events.get(i);
            if (!isSuperseded(events, i)) {
                connection.send(event.frame());
            }
            place = event.place();
        }
        place = Math.max(place, to);
        return true;
    }

    /** Whether a later progress event of the batch replaces this one: a reader that is behind gets only the last. */
    private static boolean isSuperseded(List<FeedPage.Event> events, int index) {
        FeedPage.@Nullable Event event = events.get(index);
        if (event.isProgress()) {
            for (int i = index + 1; i < events.size(); i++) {
                if (events.get(i).subject().equals(event.subject())) {
                    return true;
                }
            }
        }
        return false;
    }
}
