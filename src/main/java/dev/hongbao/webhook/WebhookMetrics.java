package dev.hongbao.webhook;

import dev.hongbao.webhook.WebhookStore.Lag;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.atomic.AtomicInteger;

/** Metrics of webhooks. Thread-safe. */
final class WebhookMetrics {
    final Counter delivered;
    final Counter failed;
    final Counter disabled;
    final AtomicInteger failing = new AtomicInteger();
    final AtomicInteger disabledNow = new AtomicInteger();
    private volatile Lag lag = Lag.NONE;

    public WebhookMetrics(MeterRegistry metrics) {
        this.delivered = attempts(metrics, "delivered");
        this.failed = attempts(metrics, "failed");
        this.disabled = Counter.builder("hongbao_webhook_disabled")
                .description("Webhooks that were disabled, since they failed for too long or wanted no more")
                .register(metrics);
        Gauge.builder("hongbao_webhook_failing", failing, AtomicInteger::get)
                .description("Webhooks whose latest delivery failed, on the server that delivers")
                .register(metrics);
        // The counter shows the event only: its alert would clear while the webhook is still disabled.
        Gauge.builder("hongbao.webhook.disabled.now", disabledNow, AtomicInteger::get)
                .description("Disabled webhooks, on the server that delivers")
                .register(metrics);
        Gauge.builder("hongbao.webhook.behind", this, all -> all.lag.rows())
                .description("Outbox rows not yet delivered to the slowest webhook; the same on every server")
                .baseUnit("rows")
                .register(metrics);
        Gauge.builder("hongbao.webhook.lag", this, all -> all.lag.seconds())
                .description("Age of the oldest event not yet delivered to a webhook; the same on every server")
                .baseUnit("seconds")
                .register(metrics);
    }

    /** Sets the lag, as read from Postgres. */
    void lags(Lag now) {
        lag = now;
    }

    /** Clears the gauges when this server stops delivering. */
    void stopped() {
        failing.set(0);
        disabledNow.set(0);
    }

    private static Counter attempts(MeterRegistry metrics, String outcome) {
        return Counter.builder("hongbao_webhook_deliveries")
                .description("Attempts to deliver a message")
                .tag("outcome", outcome)
                .register(metrics);
    }
}
