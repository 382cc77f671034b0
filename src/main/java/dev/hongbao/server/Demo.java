package dev.hongbao.server;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.doctor.MachineChecks;
import dev.hongbao.page.DemoLogin;
import dev.hongbao.page.DemoWheel;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.Text;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.time.Clock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The demo's login and wheel: only for a server on loopback with its own stores and its own token key. */
final class Demo {
    private static final Logger LOG = LoggerFactory.getLogger(Demo.class);

    private Demo() {}

    /** Blocks on the disk. */
    static DemoLogin login(HongbaoConfig config, Clock clock) throws IOException {
        Text why = whyOff(config);
        if (why != null) {
            return DemoLogin.off(why);
        }
        byte[] secret = TokenTrust.secret(config.web().token(), config.engine().data());
        return DemoLogin.open(
                new TokenSigner(
                        secret,
                        config.web().token().claims().issuer(),
                        config.web().token().claims().audience(),
                        clock),
                clock);
    }

    /** A sentence for the visitor; null if the demo is open. */
    static @Nullable Text whyOff(HongbaoConfig config) {
        if (!config.engine().redis().isEmbedded() || !config.engine().postgres().isEmbedded()) {
            return Text.of("demo.off-stores");
        }
        if (!config.web().token().algorithm().isSymmetric()
                || config.web().token().secrets().file() != null) {
            return Text.of("demo.off-tokens");
        }
        if (!MachineChecks.isLoopback(config.web().http().address().host())) {
            return Text.of("demo.off-address");
        }
        return null;
    }

    /**
     * Offers the wheel to visitors of an open demo. Visitors wait for it, the start does not; a failure is a line in the log.
     *
     * @return makes the wheel; its future ends when the wheel is made, or has failed
     */
    static Supplier<Future<?>> offerWheel(DemoLogin demo, Vertx vertx, Engine engine) {
        if (!demo.isOpen()) {
            return Future::succeededFuture;
        }
        Promise<DrawId> wheel = Promise.promise();
        demo.offer(wheel.future().onFailure(fault -> LOG.warn("the demo is without its wheel: {}", fault.toString())));
        return () -> {
            vertx.runOnContext(now -> engine.services()
                    .compose(services -> DemoWheel.ready(services.draws, engine.wallets, engine.clock.instant())
                            .eventually(services::close))
                    .onComplete(wheel));
            return wheel.future();
        };
    }
}
