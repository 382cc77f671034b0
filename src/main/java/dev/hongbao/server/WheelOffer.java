package dev.hongbao.server;

import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.web.demo.DemoLogin;
import dev.hongbao.web.demo.DemoWheel;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The demo's wheel. Visitors wait for it, the start does not: without one the demo is smaller, and the server is none the worse. */
final class WheelOffer {
    private static final Logger LOG = LoggerFactory.getLogger(WheelOffer.class);

    private WheelOffer() {}

    /**
     * Offers it to visitors, if there are any.
     *
     * @return makes it; what it returns ends when it is made, and a stop waits for that
     */
    static Supplier<Future<?>> to(DemoLogin demo, Vertx vertx, Engine engine) {
        if (!demo.isOpen()) {
            return Future::succeededFuture;
        }
        Promise<DrawId> wheel = Promise.promise();
        demo.offer(wheel.future().onFailure(fault -> LOG.warn("the demo is without its wheel: {}", fault.toString())));
        return () -> {
            vertx.runOnContext(now -> engine.loopServices()
                    .compose(loop -> DemoWheel.ready(
                                    loop.draws(),
                                    engine.wallets(),
                                    engine.clock().instant())
                            .eventually(loop.redis()::close))
                    .onComplete(wheel));
            return wheel.future();
        };
    }
}
