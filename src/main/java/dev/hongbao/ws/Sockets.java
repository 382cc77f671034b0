package dev.hongbao.ws;

import dev.hongbao.access.Access;
import dev.hongbao.access.AuditLog;
import dev.hongbao.campaign.CampaignService;
import dev.hongbao.config.WebConfig.SocketConfig;
import dev.hongbao.draw.PlayRoutes;
import dev.hongbao.feed.FeedService;
import dev.hongbao.http.CallsInFlight.Counts;
import dev.hongbao.http.ConnectionCap.ClientAddresses;
import dev.hongbao.http.ConnectionCap.ClientAddresses.ClientAddress;
import dev.hongbao.http.Contract.Frames;
import dev.hongbao.http.HttpFace.SocketUpgrade;
import dev.hongbao.http.HttpSettings.Origins;
import dev.hongbao.packet.ClaimRoutes;
import dev.hongbao.packet.PacketService;
import dev.hongbao.values.UserId;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import java.time.Clock;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The WebSockets of this server. It admits them by origin, and by count per address and user, across all event loops, and counts them for
 * operators. {@link #face} opens the WebSockets of one event loop. Thread-safe.
 */
public final class Sockets {
    private final SocketConfig config;
    private final Frames frames;
    private final Clock clock;
    private final ClientAddresses addresses;
    private final Origins origins;
    private final Counts<String> byAddress = new Counts<>();
    private final Counts<UserId> byUser = new Counts<>();
    private final AtomicInteger unauthenticated = new AtomicInteger();
    private final AtomicInteger open = new AtomicInteger();
    private final Map<CloseReason, Counter> closes = new EnumMap<>(CloseReason.class);

    /**
     * @param frames the contract
     * @param addresses of clients
     * @param origins whose pages may connect
     * @param clock for the end of tokens
     */
    public Sockets(
            SocketConfig config,
            Frames frames,
            ClientAddresses addresses,
            Origins origins,
            MeterRegistry registry,
            Clock clock) {
        this.config = config;
        this.frames = frames;
        this.clock = clock;
        this.addresses = addresses;
        this.origins = origins;
        Gauge.builder("hongbao.socket.connections", open, AtomicInteger::get)
                .description("Open WebSockets")
                .register(registry);
        for (CloseReason reason : CloseReason.values()) {
            closes.put(
                    reason,
                    Counter.builder("hongbao.socket.closes")
                            .description("WebSockets that the server closed, by reason")
                            .tag("reason", reason.wireName())
                            .register(registry));
        }
    }

    /** The WebSockets of the current event loop, with its services. @param auditLog takes the rows of the frames */
    public SocketUpgrade face(
            Vertx vertx,
            AuditLog auditLog,
            Access gate,
            FeedService feed,
            ClaimRoutes claims,
            PlayRoutes plays,
            PacketService packets,
            CampaignService campaigns) {
        Requests requests = new Requests(frames, gate, feed, claims, plays, packets, campaigns, clock);
        return new SocketFace(vertx, config, this, auditLog, requests);
    }

    Origins origins() {
        return origins;
    }

    ClientAddress addressOf(HttpServerRequest request) {
        return addresses.of(request);
    }

    /** Counts a connection of an address; false, and nothing is counted, when it has too many. */
    boolean enterAddress(ClientAddress address) {
        if (!byAddress.enter(address.key(), address.most(config.maxPerAddress()))) {
            return false;
        }
        open.incrementAndGet();
        return true;
    }

    void leaveAddress(ClientAddress address) {
        open.decrementAndGet();
        byAddress.leave(address.key());
    }

    /** Counts a connection of a user; false, and nothing is counted, when it has too many. */
    boolean enterUser(UserId user) {
        return byUser.enter(user, config.maxPerUser());
    }

    void leaveUser(UserId user) {
        byUser.leave(user);
    }

    /** Counts a connection without a token; false, and nothing is counted, when there are too many. */
    boolean enterUnauthenticated() {
        if (unauthenticated.incrementAndGet() > config.maxUnauthenticated()) {
            unauthenticated.decrementAndGet();
            return false;
        }
        return true;
    }

    void leaveUnauthenticated() {
        unauthenticated.decrementAndGet();
    }

    /** Counts a connection that the server closes. */
    void closed(CloseReason reason) {
        Objects.requireNonNull(closes.get(reason)).increment();
    }
}
