package dev.hongbao.engine.journal;

import io.vertx.core.Future;
import java.util.UUID;

/** The treatment of a packet or draw whose row cannot be read; see {@link Quarantine}. Thread-safe. */
public interface Unreadable {
    /**
     * A reader met such a unit and leaves it out.
     *
     * @param shard the shard that stores it
     */
    Future<Void> met(QuarantineUnit unit, int shard, String reason);

    /** Whether requests for the unit are refused: it exists, though it was not read. Never waits. */
    boolean refuses(UUID id);
}
