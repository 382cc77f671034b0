package dev.hongbao.engine;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A kind of settled facts that the settling server sends to the others.
 *
 * @param <T> the facts of one settlement
 */
public interface SettledFacts<T> {
    /** The first {@link #kind}. Lower numbers are messages of {@link ServerMessages} itself; it lists all kinds. */
    int FIRST_KIND = 16;

    /** A kind is one byte on the wire. */
    int LAST_KIND = 255;

    /** The number of this kind on the wire: {@link #FIRST_KIND} to {@link #LAST_KIND}, equal in all versions. */
    int kind();

    /** The listeners on this server. */
    Settlements<T> settlements();

    /**
     * The journal entries of these facts. A server that knows another generation ignores the facts; only the writers of the
     * entries wait for them. Empty for facts that were in no journal.
     */
    List<CursorMoves.Move> moves(T facts);

    void write(T facts, WireWriter to);

    /**
     * Reads the output of {@link #write} and passes it to this server's listeners. One fact may arrive more than once, in any
     * order.
     *
     * @throws RuntimeException for malformed bytes
     */
    void heard(WireReader from);

    /** @throws IllegalArgumentException for a kind that is taken or out of range */
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
