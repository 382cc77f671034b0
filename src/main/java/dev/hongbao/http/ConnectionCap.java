package dev.hongbao.http;

import dev.hongbao.http.CallsInFlight.Counts;
import dev.hongbao.http.ClientAddresses.ClientAddress;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the API's open connections, in total and per address; the management port's do not count. One instance per server,
 * thread-safe.
 */
public final class ConnectionCap {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionCap.class);
    private static final long TELL_EVERY_NANOS = 60_000_000_000L;

    private final int most;
    private final int mostOfAddress;
    private final ClientAddresses addresses;
    private final List<Connections> loops = new CopyOnWriteArrayList<>();
    private final AtomicInteger total = new AtomicInteger();
    private final Counts<String> byAddress = new Counts<>();
    private final AtomicLong toldNanos = new AtomicLong(System.nanoTime() - TELL_EVERY_NANOS);
    private final Counter refusedFull;
    private final Counter refusedAddress;
    private final Counter evicted;

    /**
     * @param most over all event loops, 1 or more
     * @param mostOfAddress of one address, 1 or more; proxies and this machine are exempt
     */
    public ConnectionCap(int most, int mostOfAddress, ClientAddresses addresses, MeterRegistry registry) {
        this.most = most;
        this.mostOfAddress = mostOfAddress;
        this.addresses = addresses;
        this.refusedFull = ended(registry, "full");
        this.refusedAddress = ended(registry, "address");
        this.evicted = ended(registry, "made-room");
        Gauge.builder("hongbao_http_connections", total, AtomicInteger::get)
                .description("Open connections, WebSockets included")
                .register(registry);
    }

    private static Counter ended(MeterRegistry registry, String reason) {
        return Counter.builder("hongbao_http_connections_closed")
                .description("Connections closed for want of room: new ones, and idle ones that made room")
                .tag("reason", reason)
                .register(registry);
    }

    /** Adds a loop's connections. */
    void add(Connections loop) {
        loops.add(loop);
    }

    /** The client's address, as trusted proxies report it. */
    public ClientAddress addressOf(HttpServerRequest request) {
        return addresses.of(request);
    }

    ClientAddress addressOf(HttpConnection connection) {
        return addresses.ofPeer(connection.remoteAddress());
    }

    /** Counts a new connection; at the limit, the one idle longest makes room. @return false, and counts nothing, if it must close */
    boolean enter(ClientAddress address) {
        if (!byAddress.enter(address.key(), address.most(mostOfAddress))) {
            refusedAddress.increment();
            tell("an address has its " + mostOfAddress + " connections (http.max-per-address); more of it are closed");
            return false;
        }
        if (total.incrementAndGet() <= most) {
            return true;
        }
        tell("all " + most + " connections (http.max-connections) are open; idle ones make room for new ones");
        if (makeRoom()) {
            evicted.increment();
            return true;
        }
        refusedFull.increment();
        leave(address);
        return false;
    }

    /** Closes the connection idle longest on any loop. @return false if none is idle */
    boolean makeRoom() {
        while (true) {
            Connections longest = null;
            long since = 0;
            for (Connections loop : loops) {
                Long idle = loop.idleSince();
                if (idle != null && (longest == null || idle - since < 0)) {
                    longest = loop;
                    since = idle;
                }
            }
            if (longest == null) {
                return false;
            }
            if (longest.makeRoom()) {
                return true;
            }
        }
    }

    void leave(ClientAddress address) {
        total.decrementAndGet();
        byAddress.leave(address.key());
    }

    /** Logs at most once a minute. */
    private void tell(String what) {
        long now = System.nanoTime();
        long told = toldNanos.get();
        if (now - told >= TELL_EVERY_NANOS && toldNanos.compareAndSet(told, now)) {
            LOG.warn(what);
        }
    }
}
