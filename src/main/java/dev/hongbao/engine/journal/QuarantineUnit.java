package dev.hongbao.engine.journal;

import java.util.UUID;

/**
 * A packet, a draw, or a unit of another {@link Mode}. It is set aside as a whole, since each of its entries follows from the
 * ones before.
 *
 * @param kind one word for the operator, in lower-case letters
 */
public record QuarantineUnit(String kind, UUID id) {
    @Override
    public String toString() {
        return kind + " " + id;
    }
}
