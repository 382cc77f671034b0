package dev.hongbao.engine;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.function.Consumer;

/**
 * Carries messages to the other servers, best effort: the sender never learns whether one arrived. Used on the event loop that
 * calls {@link #listen}.
 */
public interface ServerLine {
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
