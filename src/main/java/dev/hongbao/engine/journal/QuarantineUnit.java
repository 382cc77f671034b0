package dev.hongbao.engine.journal;

import java.util.UUID;

/**
 * What is set aside as a whole when Postgres refuses its entries, since each of them follows from the ones before: a packet, a
 * draw, or what another {@link Mode} has.
 *
 * @param kind what it is, in one word for the operator: lower-case letters
 */
public record QuarantineUnit(String kind, UUID id) {
    @Override
    public String toString() {
        return kind + " " + id;
    }
}
