package dev.hongbao.ws;

import dev.hongbao.access.AuditLog.AuditRow;
import dev.hongbao.access.CallLog;
import dev.hongbao.draw.Play.SettledPlays;
import dev.hongbao.feed.FeedFollower;
import dev.hongbao.feed.FeedPage;
import dev.hongbao.http.ClientAddresses.ClientAddress;
import dev.hongbao.http.HttpFace.SocketUpgrade;
import dev.hongbao.http.Language;
import dev.hongbao.http.Problem;
import dev.hongbao.packet.Claim;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.Members;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.ServerWebSocket;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One WebSocket: its user, its groups and its limits. Confined to its event loop. */
final class Connection {
    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    /** The method of a frame in the audit log. */
    static final String METHOD = "FRAME";

    /** A frame that is refused before its request is read. */
    private static final AuditRow.What FRAME = new AuditRow.What(METHOD, SocketUpgrade.PATH, null);

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
    private @Nullable Caller caller;
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
        Caller now = caller;
        boolean isService = now != null && now.role() == Role.SERVICE;
        if (CallLog.isTold(isService, problem.type().status())) {
            AuditRow.Kind kind = new AuditRow.Kind(
                    now == null ? AuditRow.Who.at(address.key()) : AuditRow.Who.of(now), FRAME, outcome(problem));
            var unused = face.audit().tell(kind, kind::row, isService, null);
        }
        tell(id, problem);
    }

    static AuditRow.Outcome outcome(Problem problem) {
        return new AuditRow.Outcome(problem.type().status(), problem.type().wireName());
    }

    /** Sends a refusal that is in the audit log already. */
    void tell(@Nullable String id, Problem problem) {
        send(ServerFrames.error(id, problem, language));
    }

    SocketFace face() {
        return face;
    }

    /** The language of problems. */
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
        return caller;
    }

    /** The TLS session; null without TLS. */
    @Nullable
    SSLSession sslSession() {
        return socket.sslSession();
    }

    /** Sets the caller of a valid token. The first one ends the time limit without a token; a later one is of the same user. */
    void authenticated(Caller fresh) {
        if (writer.isEnded()) {
            if (caller == null) {
                face.guards().leaveUser(fresh.user()); // it was found closed meanwhile, before the user was counted
            }
            return;
        }
        if (caller == null) {
            face.guards().leaveUnauthenticated();
            face.entered(fresh.user(), this);
        }
        caller = fresh;
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

    boolean mayJoin(GroupId group) {
        return memberships.containsKey(group)
                || memberships.size() < face.config().maxGroups();
    }

    /** Follows a group from a place; replaces an earlier join of the group. @param members permitted users */
    void join(GroupId group, Members members, Membership.Start start, int statePackets) {
        Caller now = caller;
        if (writer.isEnded() || now == null || !members.include(now)) {
            return; // the token that allowed it was replaced meanwhile
        }
        Membership membership = new Membership(
                face.vertx(),
                this,
                face.feed().following(),
                new Membership.Followed(group, members),
                start,
                statePackets);
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
    Future<FeedPage.Slice> read(FeedFollower.Follower follower, long place) {
        Caller now = caller;
        return now == null ? Future.failedFuture("closed") : face.inFlight().run(now, () -> follower.read(place));
    }

    /** As {@link #read}. */
    Future<FeedPage> state(GroupId group, FeedPage.Reset reason, int most) {
        Caller now = caller;
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
        Caller now = caller;
        if (now == null
                && nowNanos - openedNanos > face.config().timeouts().auth().toNanos()) {
            close(CloseReason.AUTH_TIMEOUT);
        } else if (now != null && nowMillis >= now.expiresAt().toEpochMilli()) {
            close(CloseReason.TOKEN_EXPIRED);
        } else if (now != null && face.isBlocked(now)) {
            close(CloseReason.BLOCKED);
        } else if (now != null && face.isRevoked(now)) {
            close(CloseReason.TOKEN_REFUSED);
        } else if (writer.fullNanos(nowNanos) > face.config().timeouts().slow().toNanos()) {
            close(CloseReason.SLOW_READER);
        } else if (writer.hasRoom()
                && nowNanos - heardNanos > face.config().timeouts().idle().toNanos()) {
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
        face.guards().closed(reason);
        if (reason == CloseReason.SLOW_READER) {
            LOG.info(
                    "closed a slow reader: {} at {} took nothing for {} ms",
                    caller == null ? "nobody" : caller.user().value(),
                    address.key(),
                    face.config().timeouts().slow().toMillis());
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
        Caller was = caller;
        if (was == null) {
            face.guards().leaveUnauthenticated();
        } else {
            UserId user = was.user();
            face.left(user, this);
            face.guards().leaveUser(user);
        }
        face.guards().leaveAddress(address);
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

        private final Set<UUID> asked = new HashSet<>();
        private final Queue<UUID> told = new ArrayDeque<>(1);

        /** Notes a request on this socket. @param id of the claimed packet, or of the request of plays */
        void asked(UUID id) {
            asked.add(id);
        }

        /** @param isKnown whether the answer carried the outcome; if not, its settlement is sent */
        void answered(UUID id, boolean isKnown) {
            asked.remove(id);
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
            if (asked.contains(id) || told.contains(id)) {
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
}
