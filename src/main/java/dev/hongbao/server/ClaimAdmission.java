package dev.hongbao.server;

import dev.hongbao.common.config.ClaimConfig;
import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.engine.admission.AdmissionControl;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;

/** Who is let in when more claims and plays come than can be settled: the control, and what servers tell each other for it. One a server. */
final class ClaimAdmission {
    private final Vertx vertx;
    private final AdmissionControl control;
    private final ClaimConfig claims;
    private final Deployment exchange;

    ClaimAdmission(Vertx vertx, HongbaoConfig config, int shards, MeterRegistry metrics) {
        this.vertx = vertx;
        this.claims = config.domain().claim();
        this.control = new AdmissionControl(
                shards,
                new AdmissionControl.Settings(claims.settleTimeout(), claims.maxWaiting(), claims.batchSize()),
                metrics,
                System::nanoTime);
        this.exchange = new Deployment(vertx);
    }

    /** Lets everybody in for whom there is a place, unless admission is on and started. */
    AdmissionControl control() {
        return control;
    }

    /**
     * Does nothing when admission is off.
     *
     * @param namespace the installation's in Redis
     */
    Future<Void> start(HongbaoConfig config, StoreAddresses stores, String namespace) {
        return claims.admission() == ClaimConfig.Admission.OFF
                ? Future.succeededFuture()
                : exchange.start(() -> new AdmissionExchange(
                        vertx,
                        control,
                        stores.redisUrl(),
                        config.engine().redis().commandTimeout(),
                        namespace));
    }

    /** Idempotent. */
    Future<Void> stop() {
        return exchange.stop();
    }
}
