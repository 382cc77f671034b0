package dev.hongbao.engine.journal;

import io.vertx.core.Future;
import java.util.UUID;

/** What becomes of a packet or a draw whose row cannot be read; see {@link Quarantine}. Thread-safe. */
public interface Unreadable {
    /**
     * It was met; the reader leaves it out.
     *
     * @param shard that it is stored with
     */
    Future<Void> met(QuarantineUnit unit, int shard, String reason);

    /** Whether it is refused when somebody asks for it: it is there, though it was not read. Never waits. */
    boolean refuses(UUID id);
}
