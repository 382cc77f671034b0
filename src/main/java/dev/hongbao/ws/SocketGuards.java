package dev.hongbao.ws;

import dev.hongbao.config.SocketConfig;
import dev.hongbao.http.CallsInFlight.Counts;
import dev.hongbao.http.ClientAddresses;
import dev.hongbao.http.ClientAddresses.ClientAddress;
import dev.hongbao.http.HttpSettings.Origins;
import dev.hongbao.values.UserId;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.http.HttpServerRequest;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Admits WebSockets by origin, and by count per address and user, across all event loops of this server, and counts them for
 * operators. Thread-safe.
 */
public final class SocketGuards {
    private final SocketConfig.Connections limits;
    private final ClientAddresses addresses;
    private final Origins origins;
    private final Counts<String> byAddress = new Counts<>();
    private final Counts<UserId> byUser = new Counts<>();
    private final AtomicInteger unauthenticated = new AtomicInteger();
    private final AtomicInteger open = new AtomicInteger();
    private final Map<CloseReason, Counter> closes = new EnumMap<>(CloseReason.class);

    /** @param addresses of clients @param origins whose pages may connect */
    public SocketGuards(
            SocketConfig.Connections limits, ClientAddresses addresses, Origins origins, MeterRegistry registry) {
        this.limits = limits;
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

    Origins origins() {
        return origins;
    }

    ClientAddress addressOf(HttpServerRequest request) {
        return addresses.of(request);
    }

    /** Counts a connection of an address; false, and nothing is counted, when it has too many. */
    boolean enterAddress(ClientAddress address) {
        if (!byAddress.enter(address.key(), address.most(limits.maxPerAddress()))) {
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
        return byUser.enter(user, limits.maxPerUser());
    }

    void leaveUser(UserId user) {
        byUser.leave(user);
    }

    /** Counts a connection without a token; false, and nothing is counted, when there are too many. */
    boolean enterUnauthenticated() {
        if (unauthenticated.incrementAndGet() > limits.maxUnauthenticated()) {
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
