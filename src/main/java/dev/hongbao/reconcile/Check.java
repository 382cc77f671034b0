package dev.hongbao.reconcile;

/**
 * One rule on the database.
 *
 * @param invariant which of the design's invariants it holds, as {@code I1}
 * @param name what is right when it holds, in a few words
 * @param sql selects one text column, a row per violation
 */
public record Check(String invariant, String name, String sql) {}
