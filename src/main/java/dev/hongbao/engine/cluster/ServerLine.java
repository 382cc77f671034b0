package dev.hongbao.engine.cluster;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.function.Consumer;

/** Carries messages to the other servers, best effort: nothing says whether one arrived. Thread-safe. */
public interface ServerLine {
    /** This server's name on the line; another one after each start. */
    String self();

    /** Whether there is nobody to tell. */
    boolean isAlone();

    /** Tells all others; dropped when too much waits to be sent. */
    void tellAll(Buffer message);

    /** Tells one; dropped when it is not there. */
    void tell(String server, Buffer message);

    /** @param heard gets what others tell, on any thread; called once, before anything is told */
    void listen(Consumer<Buffer> heard);

    /** Leaves; idempotent. */
    Future<Void> close();
}
