package dev.hongbao.engine.cluster;

import dev.hongbao.engine.journal.CursorMoves;
import dev.hongbao.engine.journal.Settlements;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A kind of settled facts that the server which settled them tells the others.
 *
 * @param <T> what is told on a server that has settled
 */
public interface SettledFacts<T> {
    /** The first {@link #kind}; lower numbers are messages of {@link ServerMessages} itself, which lists all kinds. */
    int FIRST_KIND = 16;

    /** A kind is one byte on the wire. */
    int LAST_KIND = 255;

    /** Tells it from other kinds on the wire: {@link #FIRST_KIND} to {@link #LAST_KIND}, and the same in all versions. */
    int kind();

    /** Where {@code T} is told on this server. */
    Settlements<T> settlements();

    /**
     * Which journals they were in, and where: a server that knows other generations does not believe them, and only who wrote there waits
     * for them. Empty for what was in none.
     */
    List<CursorMoves.Move> moves(T facts);

    void write(T facts, WireWriter to);

    /**
     * Reads what {@link #write} wrote, and tells it on this server. It may be called more than once for the
     * same facts, in any order.
     *
     * @throws RuntimeException when it is malformed
     */
    void heard(WireReader from);

    /** @throws IllegalArgumentException for a kind that is taken, or out of range */
    static Map<Integer, SettledFacts<?>> byKind(List<SettledFacts<?>> facts) {
        Map<Integer, SettledFacts<?>> byKind = new HashMap<>();
        for (SettledFacts<?> each : facts) {
            int kind = each.kind();
            if (kind < FIRST_KIND || kind > LAST_KIND || byKind.put(kind, each) != null) {
                throw new IllegalArgumentException("the kind " + kind + " of "
                        + each.getClass().getSimpleName() + " is taken, or not from " + FIRST_KIND + " to "
                        + LAST_KIND);
            }
        }
        return Map.copyOf(byKind);
    }
}
