package dev.hongbao.common.vertx;

import io.vertx.core.Vertx;
import io.vertx.core.internal.CloseFuture;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import java.util.function.Supplier;

/**
 * Makes clients that are closed long before their verticle is. Vert.x notes each client in a list of the context that it is made in, to
 * close it with the context, and never takes it off again when it is closed before (5.0.10 and later ones: issues 6268 and 6311 of eclipse-vertx/vert.x).
 * A kilobyte or more for each try to connect is gone for good then. Here each client is made in a context of its own on the same event
 * loop, whose list is garbage together with the client.
 */
public final class ShortLivedClient {
    private ShortLivedClient() {}

    /**
     * Makes one. Nobody but its owner closes it: undeploying a verticle does not.
     *
     * @param client makes it; called once, at once
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
