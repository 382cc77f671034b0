package dev.hongbao.values;

import io.vertx.core.Vertx;
import io.vertx.core.internal.CloseFuture;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import java.util.function.Supplier;

/**
 * Makes clients that are closed long before their verticle is. Vert.x adds each client to a close list of its context. It never
 * removes a client that is closed earlier (5.0.10 and later: issues 6268 and 6311 of eclipse-vertx/vert.x). Each attempt to
 * connect would leak a kilobyte or more. So each client gets a context of its own on the same event loop, and that context is
 * garbage together with it.
 */
public final class ShortLivedClient {
    private ShortLivedClient() {}

    /**
     * Makes a client. The caller must close it: undeploying a verticle does not.
     *
     * @param client makes it; called once, before this method returns
     */
    public static <C> C make(Vertx vertx, Supplier<C> client) {
        VertxInternal internal = (VertxInternal) vertx;
        ContextInternal context = internal.contextBuilder()
                .withEventLoop(internal.getOrCreateContext().nettyEventLoop())
                .withCloseFuture(new CloseFuture())
                .build();
        ContextInternal before = context.beginDispatch();
        try {
            return client.get();
        } finally {
            context.endDispatch(before);
        }
    }
}
