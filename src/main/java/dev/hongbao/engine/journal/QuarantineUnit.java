package dev.hongbao.engine.journal;

import java.util.Locale;
import java.util.UUID;

/**
 * A packet or a draw: what is set aside as a whole when Postgres refuses its entries, since each of them follows from the ones
 * before.
 */
public record QuarantineUnit(Kind kind, UUID id) {
    /** What it is. */
    public enum Kind {
        PACKET,
        DRAW;

        /** As Postgres has it. */
        String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** @throws IllegalArgumentException when there is no such kind */
        static Kind of(String word) {
            return valueOf(word.toUpperCase(Locale.ROOT));
        }
    }

    @Override
    public String toString() {
        return kind.word() + " " + id;
    }
}
