package dev.hongbao.ws;

import dev.hongbao.access.AuditLog;
import dev.hongbao.access.AuditLog.AuditRow;
import dev.hongbao.access.CallLog;
import dev.hongbao.access.Tokens.TokenVerdict;
import dev.hongbao.config.WebConfig.SocketConfig;
import dev.hongbao.draw.Play.SettledPlays;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Settlements;
import dev.hongbao.engine.Settlements.LoopListeners;
import dev.hongbao.feed.FeedService;
import dev.hongbao.http.CallsInFlight;
import dev.hongbao.http.ConnectionCap.ClientAddresses.ClientAddress;
import dev.hongbao.http.HttpFace.SocketUpgrade;
import dev.hongbao.http.Problem;
import dev.hongbao.http.Problem.FaultLog;
import dev.hongbao.http.ProblemType;
import dev.hongbao.packet.Claim;
import dev.hongbao.packet.Claim.SettledClaims;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Reason;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.netty.channel.ChannelHandlerContext;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.internal.http.WebSocketInternal;
import io.vertx.core.net.impl.VertxHandler;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Every WebSocket of one event loop. Create and use it on that loop only. */
final class SocketFace implements SocketUpgrade {
    static final Buffer PING = Buffer.buffer();

    private static final Logger LOG = LoggerFactory.getLogger(SocketFace.class);
    private static final FaultLog FAULTS = new FaultLog(LOG, System::nanoTime);

    private static final long SWEEP_MILLIS = 200;
    private static final long MAX_PING_NANOS = TimeUnit.SECONDS.toNanos(25);
    private static final long DRAIN_MILLIS = 2_500;

    /** Time for which an answer to the host waits for its audit row. */
    private static final long ROW_MILLIS = 5_000;

    private final Vertx vertx;
    private final Context loop;
    private final SocketConfig config;
    private final Sockets sockets;
    private final CallLog audit;

    private final Requests requests;
    private final Set<Connection> connections = new LinkedHashSet<>();
    private final Map<UserId, List<Connection>> byUser = new HashMap<>();
    private final long pingNanos;
    private long pingedNanos = System.nanoTime();
    private volatile boolean hasUsers;
    private boolean stopping;

    /** Makes it on the current event loop. @param auditLog takes the rows of the frames */
    SocketFace(Vertx vertx, SocketConfig config, Sockets sockets, AuditLog auditLog, Requests requests) {
        this.vertx = vertx;
        this.loop = vertx.getOrCreateContext();
        this.config = config;
        this.sockets = sockets;
        this.audit = new CallLog(auditLog, ROW_MILLIS);
        this.requests = requests;
        this.pingNanos = Math.min(MAX_PING_NANOS, config.idleTimeout().toNanos() / 3);
        vertx.setPeriodic(SWEEP_MILLIS, tick -> sweep());
        Executor here = Loop.of(vertx).here();
        Settlements<SettledClaims> claims = requests.claims.settlements();
        for (LoopListeners<SettledClaims> each : List.of(claims.here(), claims.toListeners())) {
            each.add(here, () -> hasUsers, settled -> settled.claims().forEach(this::settled));
        }
        Settlements<SettledPlays> plays = requests.plays.settlements();
        for (LoopListeners<SettledPlays> each : List.of(plays.here(), plays.toListeners())) {
            each.add(here, () -> hasUsers, settled -> settled.requests().forEach(this::settled));
        }
    }

    @Override
    public void upgrade(HttpServerRequest request, Supplier<Runnable> opened, Consumer<Problem> refuse) {
        Problem problem = refusal(request);
        if (problem != null) {
            refuse.accept(problem);
            return;
        }
        ClientAddress address = sockets.addressOf(request);
        if (!sockets.enterAddress(address)) {
            refuse.accept(Problem.tooMany(Reason.CONNECTIONS, Text.of("socket.too-many-of-address"), 5));
            return;
        }
        if (!sockets.enterUnauthenticated()) {
            sockets.leaveAddress(address);
            refuse.accept(Problem.of(ProblemType.OVERLOADED, Text.of("socket.too-many-waiting")));
            return;
        }
        request.toWebSocket()
                .onSuccess(socket -> opened(socket, address, opened.get()))
                .onFailure(malformed -> {
                    sockets.leaveUnauthenticated();
                    sockets.leaveAddress(address);
                    refuse.accept(Problem.of(ProblemType.INVALID_REQUEST, Text.of("handshake.malformed")));
                });
    }

    private @Nullable Problem refusal(HttpServerRequest request) {
        if (stopping) {
            return Problem.of(ProblemType.STOPPING);
        }
        Problem malformed = Handshake.refusal(request);
        if (malformed != null) {
            return malformed;
        }
        return sockets.origins().allow(request) ? null : otherOrigin(request);
    }

    private Problem otherOrigin(HttpServerRequest request) {
        Problem problem = Problem.of(ProblemType.FORBIDDEN, Reason.ORIGIN, Text.of("socket.origin"));
        AuditRow.Kind kind = new AuditRow.Kind(
                AuditRow.Who.at(sockets.addressOf(request).key()),
                request.method().name(),
                PATH,
                null,
                problem.type().status(),
                problem.type().wireName());
        var unused = audit.tell(kind, kind::row, false, null);
        return problem;
    }

    private void opened(ServerWebSocket socket, ClientAddress address, Runnable ended) {
        Handshake.release(socket);
        Connection connection;
        try {
            connection = new Connection(this, socket, address, ended);
        } catch (RuntimeException fault) {
            FAULTS.failed("opening a socket failed", fault);
            sockets.closed(CloseReason.INTERNAL_ERROR);
            sockets.leaveUnauthenticated();
            sockets.leaveAddress(address);
            ended.run();
            var unused = socket.close(CloseReason.INTERNAL_ERROR.code(), CloseReason.INTERNAL_ERROR.wireName());
            return;
        }
        FrameReader.BrokenFrames.watch(socket, reason -> loop.runOnContext(now -> connection.close(reason)));
        connections.add(connection);
        if (stopping) {
            connection.close(CloseReason.GOING_AWAY);
        }
    }

    private void settled(Claim claim) {
        List<Connection> mine = byUser.get(claim.user());
        if (mine != null) {
            List.copyOf(mine).forEach(connection -> connection.settled(claim)); // a socket found closed leaves the list
        }
    }

    private void settled(SettledPlays.Request request) {
        List<Connection> mine = byUser.get(request.user());
        if (mine != null && !request.plays().isEmpty()) {
            List.copyOf(mine).forEach(connection -> connection.settled(request));
        }
    }

    private void sweep() {
        long now = System.nanoTime();
        long millis = requests.clock.millis();
        List<Connection> all = new ArrayList<>(connections);
        all.forEach(connection -> connection.sweep(now, millis));
        if (now - pingedNanos > pingNanos) {
            pingedNanos = now;
            all.forEach(Connection::ping);
        }
    }

    @Override
    public Future<Void> close() {
        stopping = true;
        Promise<Void> closed = Promise.promise();
        closeWhenAnswered(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DRAIN_MILLIS), closed);
        return closed.future();
    }

    private void closeWhenAnswered(long deadlineNanos, Promise<Void> closed) {
        boolean waiting = requests.isBusy() || connections.stream().anyMatch(Connection::isWaiting);
        if (waiting && System.nanoTime() < deadlineNanos) {
            vertx.setTimer(10, later -> closeWhenAnswered(deadlineNanos, closed));
            return;
        }
        new ArrayList<>(connections).forEach(connection -> connection.close(CloseReason.GOING_AWAY));
        closed.complete();
    }

    // --- for the connections ---

    Vertx vertx() {
        return vertx;
    }

    SocketConfig config() {
        return config;
    }

    Sockets sockets() {
        return sockets;
    }

    CallLog audit() {
        return audit;
    }

    FeedService feed() {
        return requests.feed;
    }

    CallsInFlight inFlight() {
        return requests.gate.inFlight();
    }

    Requests requests() {
        return requests;
    }

    boolean isBlocked(Caller caller) {
        return requests.gate.restrictions().isBlocked(caller);
    }

    boolean isVoid(TokenVerdict accepted) {
        return requests.gate.tokens().isVoid(accepted);
    }

    boolean isRevoked(Caller caller) {
        return requests.gate.tokens().isRevoked(caller);
    }

    boolean isStopping() {
        return stopping;
    }

    void entered(UserId user, Connection connection) {
        byUser.computeIfAbsent(user, name -> new ArrayList<>(1)).add(connection);
        hasUsers = true;
        requests.feed.audience().joined();
    }

    void left(UserId user, Connection connection) {
        byUser.computeIfPresent(user, (name, all) -> {
            all.remove(connection);
            return all.isEmpty() ? null : all;
        });
        hasUsers = !byUser.isEmpty();
        requests.feed.audience().left();
    }

    void closed(Connection connection) {
        connections.remove(connection);
    }

    /**
     * Checks that a request may become a WebSocket (RFC 6455 §4.2.1), because Vert.x refuses in plain text instead of a problem, and
     * frees the request afterwards.
     */
    static final class Handshake {
        /** Sixteen bytes in Base64. */
        private static final Pattern KEY = Pattern.compile("[A-Za-z0-9+/]{22}==");

        private static final String VERSION = "13";

        /**
         * Vert.x 5.0 keeps the HTTP request while its WebSocket is open: the request, its headers, and the HTTP connection with a queue
         * of 4 KB. All hang on this function, which made the WebSocket's connection, is called once and then only held. No public
         * method frees it, so reflection does: 6 of 15 KB of heap per socket.
         */
        private static final @Nullable Field FACTORY = factory();

        private Handshake() {}

        /** The refusal of a request that may not; null otherwise. */
        static @Nullable Problem refusal(HttpServerRequest request) {
            if (request.version() != HttpVersion.HTTP_1_1
                    || !"websocket".equalsIgnoreCase(request.getHeader("Upgrade"))
                    || !lists(request.getHeader("Connection"), "upgrade")
                    || !lists(request.getHeader("Sec-WebSocket-Protocol"), SocketUpgrade.SUBPROTOCOL)) {
                return malformed(Text.of("handshake.subprotocol", SocketUpgrade.SUBPROTOCOL));
            }
            if (!VERSION.equals(request.getHeader("Sec-WebSocket-Version"))) {
                request.response().putHeader("Sec-WebSocket-Version", VERSION);
                return malformed(Text.of("handshake.version", VERSION));
            }
            String key = request.getHeader("Sec-WebSocket-Key");
            if (key == null || !KEY.matcher(key).matches()) {
                return malformed(Text.of("handshake.key"));
            }
            String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
            if (request.headers().contains(HttpHeaders.TRANSFER_ENCODING) || (length != null && !length.equals("0"))) {
                return malformed(Text.of("handshake.body"));
            }
            return request.query() == null ? null : malformed(Text.of("handshake.query"));
        }

        private static Problem malformed(Text detail) {
            return Problem.of(ProblemType.INVALID_REQUEST, detail);
        }

        private static boolean lists(@Nullable String header, String wanted) {
            if (header != null) {
                for (String each : header.split(",", -1)) {
                    if (each.strip().equalsIgnoreCase(wanted)) {
                        return true;
                    }
                }
            }
            return false;
        }

        private static @Nullable Field factory() {
            try {
                Field field = VertxHandler.class.getDeclaredField("connectionFactory");
                field.setAccessible(true);
                return field;
            } catch (ReflectiveOperationException | RuntimeException changed) {
                LOG.info("WebSockets take more memory than they need to: {}", changed.toString());
                return null;
            }
        }

        /** Whether this works with the current Vert.x; for a test, which fails if another version keeps the request elsewhere. */
        static boolean canBeReleased() {
            return FACTORY != null;
        }

        /** Frees the request if possible. Call on the socket's event loop, once it is open; idempotent. */
        static void release(ServerWebSocket socket) {
            if (FACTORY == null || !(socket instanceof WebSocketInternal internal)) {
                return;
            }
            ChannelHandlerContext channel = internal.channelHandlerContext();
            VertxHandler<?> handler = channel.pipeline().get(VertxHandler.class);
            if (handler != null && handler.getConnection() != null) {
                try {
                    FACTORY.set(handler, null);
                } catch (IllegalAccessException kept) {
                    LOG.debug("a handshake is kept: {}", kept.toString());
                }
            }
        }
    }
}
