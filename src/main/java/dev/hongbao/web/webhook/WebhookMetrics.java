package dev.hongbao.web.webhook;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.atomic.AtomicInteger;

/** What operators see of webhooks. Safe on any thread. */
public final class WebhookMetrics {
    final Counter delivered;
    final Counter failed;
    final Counter disabled;
    final AtomicInteger failing = new AtomicInteger();

    public WebhookMetrics(MeterRegistry metrics) {
        this.delivered = attempts(metrics, "delivered");
        this.failed = attempts(metrics, "failed");
        this.disabled = Counter.builder("hongbao_webhooks_disabled")
                .description("Webhooks that were disabled, since they failed for too long or wanted no more")
                .register(metrics);
        Gauge.builder("hongbao_webhooks_failing", failing, AtomicInteger::get)
                .description("Webhooks whose latest delivery failed, on the server that delivers")
                .register(metrics);
    }

    private static Counter attempts(MeterRegistry metrics, String outcome) {
        return Counter.builder("hongbao_webhook_deliveries")
                .description("Attempts to deliver a message")
                .tag("outcome", outcome)
                .register(metrics);
    }
}
