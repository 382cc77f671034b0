package dev.hongbao.engine;

import dev.hongbao.store.redis.RedisLinks;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Carries messages to the other servers, best effort: the sender never learns whether one arrived. Used on the event loop that
 * calls {@link #listen}.
 */
public interface ServerLine {
    /**
     * A line over publish/subscribe of the Redis that the servers share. It connects when {@link #listen} is called.
     *
     * @param open opens connections on the current event loop
     * @param readKeys the key of the messages; during its change also the previous one
     * @param namespace the installation's
     * @param metrics counts the messages with a wrong signature
     */
    static ServerLine overRedis(
            Vertx vertx,
            Supplier<Future<RedisLinks>> open,
            Supplier<Future<List<Buffer>>> readKeys,
            String namespace,
            MeterRegistry metrics) {
        return new RedisLine(vertx, open, readKeys, namespace, metrics);
    }

    /** This server's name on the line; each start draws a new one. */
    String self();

    /** Sends to all other servers; dropped if too much waits to be sent. Due once a second: it shows that the line works. */
    void tellAll(Buffer message);

    /** Sends to one server; dropped if the server is gone. */
    void tell(String server, Buffer message);

    /** @param heard gets the messages of other servers; may be called on any thread */
    void listen(Consumer<Buffer> heard);

    /** Sends the gathered messages, then leaves. */
    Future<Void> close();
}
