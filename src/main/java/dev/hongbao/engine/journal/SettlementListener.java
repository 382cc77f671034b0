package dev.hongbao.engine.journal;

/**
 * Hears how the writer's settlements end, whatever they settle. What was settled is told by its settler; this is for who
 * looks into Postgres. Called on the persistence verticle's event loop.
 */
public interface SettlementListener {
    /** One was committed. */
    void settled();

    /** One failed, or its outcome is unknown: what it may have settled, nobody tells of. */
    void uncertain();
}
