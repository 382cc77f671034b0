package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.engine.postgres.Sweep;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.List;

/**
 * What is kept for a time only and is not told: every server removes it once an hour. The guide tells of every table how long it is kept;
 * {@link Outbox} sweeps the outbox, and the feeds' owner the feeds. Thread-safe.
 */
public final class Retention {
    private static final Duration EVERY = Duration.ofHours(1);

    private final List<Sweep> sweeps;

    /** @param pool for statements that may take long */
    Retention(Pool pool, HongbaoConfig config) {
        Duration keys = config.domain().idempotency().retention();
        Duration history = config.audit().retention();
        this.sweeps = List.of(
                Sweep.byAge(pool, "the idempotency keys", "idempotency_sweep", keys),
                Sweep.byAge(pool, "the requests whose cost was returned", "play_request_sweep", keys),
                Sweep.byAge(pool, "the audit log", "audit_log_sweep", history),
                Sweep.byAge(pool, "the history of restrictions", "restriction_sweep", history),
                Sweep.byAge(pool, "the history of revocations", "revocation_sweep", history));
    }

    void start(Vertx vertx) {
        sweeps.forEach(sweep -> sweep.start(vertx, EVERY));
    }

    /** Before the pool is closed. */
    void stop(Vertx vertx) {
        sweeps.forEach(sweep -> sweep.stop(vertx));
    }

    /** All of it, for who does not wait for the hour. */
    public List<Sweep> sweeps() {
        return sweeps;
    }
}
