package dev.hongbao.engine.cluster;

import dev.hongbao.engine.journal.CursorMoves;
import dev.hongbao.engine.journal.SettledNews;
import java.util.List;

/**
 * A kind of settled facts that the server which settled them tells the others.
 *
 * @param <T> what is told on a server that has settled
 */
public interface SettledFacts<T> {
    /** Tells it from other kinds on the wire: from 16 to 255, and never another one. */
    int kind();

    /** Where {@code T} is told on this server. */
    SettledNews<T> news();

    /**
     * Which journals they were in, and where: a server that knows other generations does not believe them, and only who wrote there waits
     * for them. Empty for what was in none.
     */
    List<CursorMoves.Move> moves(T facts);

    void write(T facts, WireWriter to);

    /**
     * Reads what {@link #write} wrote, and tells it on this server as {@link SettledNews#heard}. It may be called more than once for the
     * same facts, in any order.
     *
     * @throws RuntimeException when it is malformed
     */
    void heard(WireReader from);
}
