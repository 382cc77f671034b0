package dev.hongbao.engine;

import java.util.List;

/**
 * Learns how the writer's settlements end, of every kind. It is for readers of Postgres; the facts themselves come from the
 * settlers. Called on the persistence verticle's event loop.
 */
public interface SettlementListener {
    /** A settlement was committed. */
    void settled();

    /** A settlement failed, or its outcome is unknown. The facts of an unknown one are never published. */
    void uncertain();

    /** Its periodic work for the owner of a shard. */
    List<OwnerTask> ownerTasks();
}
