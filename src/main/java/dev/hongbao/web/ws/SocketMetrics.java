package dev.hongbao.web.ws;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Map;

/** Metrics of WebSockets. Thread-safe. */
public final class SocketMetrics {
    private final Map<CloseReason, Counter> closes = new EnumMap<>(CloseReason.class);

    public SocketMetrics(MeterRegistry registry, SocketGuards guards) {
        Gauge.builder("hongbao.socket.connections", guards, SocketGuards::open)
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

    void closed(CloseReason reason) {
        Counter counter = closes.get(reason);
        if (counter != null) {
            counter.increment();
        }
    }
}
