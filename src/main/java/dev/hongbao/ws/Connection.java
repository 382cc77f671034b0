package dev.hongbao.ws;

import dev.hongbao.access.AuditLog.AuditRow;
import dev.hongbao.access.CallLog;
import dev.hongbao.access.Tokens.TokenVerdict;
import dev.hongbao.draw.Play.SettledPlays;
import dev.hongbao.feed.FeedService;
import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.http.ConnectionCap.ClientAddresses.ClientAddress;
import dev.hongbao.http.HttpFace.SocketUpgrade;
import dev.hongbao.http.Language;
import dev.hongbao.http.Problem;
import dev.hongbao.packet.Claim;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.Members;
import dev.hongbao.values.UserId;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.http.WebSocketFrameType;
import io.vertx.core.http.impl.ws.WebSocketFrameImpl;
import io.vertx.core.internal.http.WebSocketInternal;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One WebSocket: its user, its groups and its limits. Confined to its event loop. */
final class Connection {
    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    /** The method of a frame in the audit log. */
    static final String METHOD = "FRAME";

    private final SocketFace face;

    private final ServerWebSocket socket;
    private final ClientAddress address;
    private final Runnable ended;
    private final Language language;
    private final FrameWriter writer;
    private final Map<GroupId, Membership> memberships = new HashMap<>();
    private final OwnSettlements claims = new OwnSettlements();
    private final OwnSettlements plays = new OwnSettlements();
    private final long openedNanos = System.nanoTime();
    private @Nullable TokenVerdict token;
    private long heardNanos = openedNanos;

    /** @param ended called once, at its end */
    Connection(SocketFace face, ServerWebSocket socket, ClientAddress address, Runnable ended) {
        this.face = face;
        this.socket = socket;
        this.address = address;
        this.ended = ended;
        this.language = Language.of(socket.headers().get(HttpHeaders.ACCEPT_LANGUAGE));
        this.writer = new FrameWriter(socket, this::drained, this::gone);
        FrameReader reader = new FrameReader(face, this);
        socket.frameHandler(frame -> {
            heardNanos = System.nanoTime();
            if (frame.isPing()) {
                writer.wrote();
            }
            if (!writer.isEnded()) {
                reader.arrived(frame, heardNanos);
            }
        });
        socket.pongHandler(pong -> heardNanos = System.nanoTime());
        socket.exceptionHandler(fault -> LOG.debug("a socket broke: {}", fault.toString()));
        socket.closeHandler(gone -> gone());
    }

    // --- what goes out ---

    /** Whether the reader keeps up. */
    boolean hasRoom() {
        return writer.hasRoom();
    }

    void send(String text) {
        writer.send(text);
    }

    /** Sends a frame whose bytes several connections share. */
    void send(byte[] utf8) {
        writer.send(utf8);
    }

    /** Refuses a frame without a known request. */
    void refuse(@Nullable String id, Problem problem) {
        Caller now = caller();
        boolean isService = now != null && now.role() == Role.SERVICE;
        if (CallLog.isTold(isService, problem.type().status())) {
            AuditRow.Kind kind = new AuditRow.Kind(
                    now == null ? AuditRow.Who.at(address.key()) : AuditRow.Who.of(now),
                    METHOD,
                    SocketUpgrade.PATH,
                    null,
                    problem.type().status(),
                    problem.type().wireName());
            var unused = face.audit().tell(kind, kind::row, isService, null);
        }
        tell(id, problem);
    }

    /** Sends a refusal that is in the audit log already. */
    void tell(@Nullable String id, Problem problem) {
        send(ServerFrames.error(id, problem, language));
    }

    SocketFace face() {
        return face;
    }

    Language language() {
        return language;
    }

    private void drained() {
        heardNanos = System.nanoTime(); // frames were not read meanwhile
        List.copyOf(memberships.values()).forEach(Membership::advance);
    }

    // --- who it is ---

    /** Null before the first token. */
    @Nullable
    Caller caller() {
        return token == null ? null : token.caller();
    }

    /** The TLS session; null without TLS. */
    @Nullable
    SSLSession sslSession() {
        return socket.sslSession();
    }

    /** Takes an accepted token. The first one ends the time limit without a token; a later one is of the same user. */
    void authenticated(TokenVerdict accepted) {
        Caller fresh = Objects.requireNonNull(accepted.caller());
        if (writer.isEnded()) {
            if (token == null) {
                face.sockets().leaveUser(fresh.user()); // it was found closed meanwhile, before the user was counted
            }
            return;
        }
        if (token == null) {
            face.sockets().leaveUnauthenticated();
            face.entered(fresh.user(), this);
        }
        token = accepted;
        Iterator<Map.Entry<GroupId, Membership>> joined = memberships.entrySet().iterator();
        while (joined.hasNext()) {
            Map.Entry<GroupId, Membership> each = joined.next();
            if (!each.getValue().members().include(fresh)) {
                each.getValue().close();
                joined.remove();
                send(ServerFrames.left(null, each.getKey()));
            }
        }
    }

    // --- which groups it follows ---

    /** Whether its latest token is of a member. */
    boolean isAmong(Members members) {
        Caller now = caller();
        return now != null && members.include(now);
    }

    /** Whether it has room for the group. */
    boolean mayJoin(GroupId group) {
        return memberships.containsKey(group)
                || memberships.size() < face.config().maxGroups();
    }

    /** Follows a group from a place; replaces an earlier join of the group. Check {@link #isAmong} first. See {@link Membership}. */
    void join(GroupId group, Members members, long place, boolean isOwn, int statePackets) {
        if (writer.isEnded()) {
            return;
        }
        Membership membership = new Membership(this, group, members, place, isOwn, statePackets);
        Membership before = memberships.put(group, membership);
        if (before != null) {
            before.close();
        }
        membership.advance();
    }

    void leave(GroupId group) {
        Membership membership = memberships.remove(group);
        if (membership != null) {
            membership.close();
        }
    }

    /** Reads from a place; counts as a call in flight of the user, and is refused at that limit. */
    Future<FeedPage.Slice> read(FeedService.Follower follower, long place) {
        Caller now = caller();
        return now == null ? Future.failedFuture("closed") : face.inFlight().run(now, () -> follower.read(place));
    }

    /** As {@link #read}. */
    Future<FeedPage> state(GroupId group, FeedPage.Reset reason, int most) {
        Caller now = caller();
        return now == null
                ? Future.failedFuture("closed")
                : face.inFlight().run(now, () -> face.feed().state(now, group, reason, most));
    }

    // --- what is settled for its user ---

    OwnSettlements claims() {
        return claims;
    }

    OwnSettlements plays() {
        return plays;
    }

    boolean isWaiting() {
        return !writer.isEnded() && claims.isAwaited();
    }

    /** Sends a settled claim of this user once, unless the claim's answer on this socket carries it. */
    void settled(Claim claim) {
        if (claims.tells(claim.packet().value())) {
            send(ServerFrames.claimSettled(claim));
        }
    }

    /** Sends settled plays of this user, as for a claim. */
    void settled(SettledPlays.Request request) {
        if (plays.tells(request.request())) {
            send(ServerFrames.playSettled(request.plays()));
        }
    }

    // --- its end ---

    /** Checks every time limit. Called several times a second. */
    void sweep(long nowNanos, long nowMillis) {
        Caller now = caller();
        if (now == null && nowNanos - openedNanos > face.config().authTimeout().toNanos()) {
            close(CloseReason.AUTH_TIMEOUT);
        } else if (now != null && nowMillis >= now.expiresAt().toEpochMilli()) {
            close(CloseReason.TOKEN_EXPIRED);
        } else if (now != null && face.isBlocked(now)) {
            close(CloseReason.BLOCKED);
        } else if (token != null && face.isVoid(token)) {
            close(CloseReason.TOKEN_REFUSED);
        } else if (writer.fullNanos(nowNanos) > face.config().slowTimeout().toNanos()) {
            close(CloseReason.SLOW_READER);
        } else if (writer.hasRoom()
                && nowNanos - heardNanos > face.config().idleTimeout().toNanos()) {
            close(CloseReason.IDLE);
        }
    }

    void ping() {
        writer.ping();
    }

    void close(CloseReason reason) {
        if (writer.isEnded()) {
            return;
        }
        face.sockets().closed(reason);
        if (reason == CloseReason.SLOW_READER) {
            LOG.info(
                    "closed a slow reader: {} at {} took nothing for {} ms",
                    caller() == null ? "nobody" : caller().user().value(),
                    address.key(),
                    face.config().slowTimeout().toMillis());
        }
        writer.close(reason);
        gone();
    }

    private void gone() {
        if (writer.isEnded()) {
            return;
        }
        writer.end();
        memberships.values().forEach(Membership::close);
        memberships.clear();
        Caller was = caller();
        if (was == null) {
            face.sockets().leaveUnauthenticated();
        } else {
            UserId user = was.user();
            face.left(user, this);
            face.sockets().leaveUser(user);
        }
        face.sockets().leaveAddress(address);
        face.closed(this);
        ended.run();
    }

    /**
     * Selects the settlements of one kind that a socket sends to its user: each once, and none that an answer on this socket carries.
     * Confined to the socket's event loop.
     */
    static final class OwnSettlements {
        /** Ids kept: a settlement arrives from this server, from others and from the feed, within a short time. */
        private static final int MAX_TOLD = 16;

        /** Requests without an answer yet, by id. */
        private final Map<UUID, Integer> asked = new HashMap<>();

        private final Queue<UUID> told = new ArrayDeque<>(1);

        /** Notes a request on this socket. @param id of the claimed packet, or of the request of plays */
        void asked(UUID id) {
            asked.merge(id, 1, Integer::sum);
        }

        /** @param isKnown whether the answer carried the outcome; if not, its settlement is sent */
        void answered(UUID id, boolean isKnown) {
            asked.computeIfPresent(id, (same, requests) -> requests == 1 ? null : requests - 1);
            if (isKnown) {
                remember(id);
            }
        }

        /** Whether an answer is still to come. */
        boolean isAwaited() {
            return !asked.isEmpty();
        }

        /** Whether to send a settlement; true once per id. */
        boolean tells(UUID id) {
            if (asked.containsKey(id) || told.contains(id)) {
                return false;
            }
            remember(id);
            return true;
        }

        private void remember(UUID id) {
            if (told.contains(id)) {
                return;
            }
            if (told.size() == MAX_TOLD) {
                told.remove();
            }
            told.add(id);
        }
    }

    /**
     * Writes one client's frames. Pauses reading while the client does not read, so that answers do not pile up. Confined to the
     * connection's event loop.
     */
    private static final class FrameWriter {
        /** Bytes that may wait for a reader before it counts as slow: a thousand slow readers hold 16 MB. */
        private static final int WRITE_QUEUE_BYTES = 16 * 1024;

        private final ServerWebSocket socket;
        private final Runnable drained;
        private final Runnable gone;
        private final LineEnd lineEnd;
        private long fullSinceNanos;
        private boolean full;
        private boolean ended;

        /**
         * @param drained called when the reader keeps up again
         * @param gone called when the socket turns out to be closed
         */
        FrameWriter(ServerWebSocket socket, Runnable drained, Runnable gone) {
            this.socket = socket;
            this.drained = drained;
            this.gone = gone;
            socket.setWriteQueueMaxSize(WRITE_QUEUE_BYTES);
            socket.drainHandler(room -> drained());
            this.lineEnd = LineEnd.of(socket, () -> full);
        }

        /** Whether the reader keeps up. */
        boolean hasRoom() {
            return !ended && !full;
        }

        /** The time since the reader fell behind; 0 if it keeps up. */
        long fullNanos(long nowNanos) {
            return full ? nowNanos - fullSinceNanos : 0;
        }

        void send(String text) {
            guarded(() -> {
                socket.writeTextMessage(text);
                look();
            });
        }

        /** Sends a frame whose bytes several connections share. Vert.x' own text frames can be written only once. */
        void send(byte[] utf8) {
            guarded(() -> {
                socket.writeFrame(new WebSocketFrameImpl(WebSocketFrameType.TEXT, Unpooled.wrappedBuffer(utf8), true));
                look();
            });
        }

        void ping() {
            if (!full) {
                guarded(() -> {
                    socket.writePing(SocketFace.PING);
                    look();
                });
            }
        }

        /** Notes a write by Vert.x itself, which answers pings. */
        void wrote() {
            guarded(this::look);
        }

        /** Sends a close frame, ahead of frames that wait for a slow reader. */
        void close(CloseReason reason) {
            guarded(() -> {
                // A paused socket would not read the answer to the close frame.
                socket.resume();
                if (full) {
                    lineEnd.close(reason);
                } else {
                    socket.close(reason.code(), reason.wireName());
                }
            });
        }

        void end() {
            ended = true;
        }

        boolean isEnded() {
            return ended;
        }

        /** Vert.x throws if the socket is closed but its close handler has not run yet. */
        private void guarded(Runnable work) {
            if (!ended) {
                try {
                    work.run();
                } catch (IllegalStateException closedMeanwhile) {
                    gone.run();
                }
            }
        }

        private void look() {
            if (!full && socket.writeQueueFull()) {
                full = true;
                fullSinceNanos = System.nanoTime();
                socket.pause();
            }
        }

        private void drained() {
            if (full && !ended) {
                full = false;
                guarded(socket::resume);
                drained.run();
            }
        }

        /**
         * Closes the socket of a client that does not read. Vert.x' own close frame waits behind the unread frames, so it may never be
         * written, and Vert.x cuts the line only after it. Vert.x also logs a stack trace if the line ends meanwhile. Confined to the
         * socket's event loop.
         */
        static final class LineEnd extends ChannelDuplexHandler {
            /** Time for the client to answer the close frame. */
            private static final long ANSWER_MILLIS = 2_000;

            private final ChannelHandlerContext vertx;
            private final BooleanSupplier full;
            private boolean closing;

            private LineEnd(ChannelHandlerContext vertx, BooleanSupplier full) {
                this.vertx = vertx;
                this.full = full;
            }

            /** @param full whether frames wait for the reader */
            static LineEnd of(ServerWebSocket socket, BooleanSupplier full) {
                ChannelHandlerContext channel = ((WebSocketInternal) socket).channelHandlerContext();
                LineEnd end = new LineEnd(channel, full);
                channel.pipeline().addBefore(channel.name(), "line end", end);
                return end;
            }

            /** Sends a close frame ahead of the frames that wait, drops these, and cuts the line soon after. */
            void close(CloseReason reason) {
                ChannelHandlerContext channel = vertx.pipeline().context(this);
                if (closing || channel == null) {
                    return;
                }
                closing = true;
                channel.writeAndFlush(new CloseWebSocketFrame(reason.code(), reason.wireName()), channel.voidPromise());
                // The channel's own timer, which fires in a stopping server too.
                var unused = channel.executor().schedule(() -> channel.close(), ANSWER_MILLIS, TimeUnit.MILLISECONDS);
            }

            @Override
            public void write(ChannelHandlerContext channel, Object frame, ChannelPromise promise) {
                if (closing) {
                    ReferenceCountUtil.release(frame);
                    promise.trySuccess();
                } else {
                    channel.write(frame, promise);
                }
            }

            /** Reads the answer to the close frame, or a close frame of a client that has not read, whose answer would wait as long. */
            @Override
            public void channelRead(ChannelHandlerContext channel, Object frame) {
                if (frame instanceof CloseWebSocketFrame && (closing || full.getAsBoolean())) {
                    ReferenceCountUtil.release(frame);
                    channel.close();
                } else {
                    channel.fireChannelRead(frame);
                }
            }
        }
    }
}
