package dev.hongbao.engine.cluster;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.function.Consumer;

/** Carries messages to the other servers, best effort: nothing says whether one arrived. Used on the event loop that listens. */
public interface ServerLine {
    /** This server's name on the line; another one after each start. */
    String self();

    /** Tells all others; dropped when too much waits to be sent. Due once a second: it shows that the line works. */
    void tellAll(Buffer message);

    /** Tells one; dropped when it is not there. */
    void tell(String server, Buffer message);

    /** @param heard gets what others tell; may be called on any thread */
    void listen(Consumer<Buffer> heard);

    /** Leaves, after what was told. */
    Future<Void> close();
}
