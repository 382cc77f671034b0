package dev.hongbao.domain.reconcile;

import dev.hongbao.domain.fairness.DrawSeed;
import dev.hongbao.domain.odds.DefinitionReader;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Row;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Checks the commitment of every draw. */
final class DrawSeedCheck {
    private static final String DRAWS = "select d.id, d.seed, encode(d.commitment, 'hex') as commitment, d.definition,"
            + " exists (select from quarantine_unit as q where q.id = d.id) as set_aside from draw as d order by d.id";

    private DrawSeedCheck() {}

    static RowCheck of(Vertx vertx) {
        return new RowCheck(
                vertx, "the seed and the definition of every draw give its commitment", DRAWS, DrawSeedCheck::line);
    }

    private static @Nullable String line(Row row) {
        String fault = fault(row);
        return fault == null ? null : "draw " + row.getUUID("id") + ": " + fault;
    }

    private static @Nullable String fault(Row row) {
        UUID id = row.getUUID("id");
        String digest;
        try {
            digest = new DrawSeed(row.getBuffer("seed").getBytes())
                    .commitment(
                            id,
                            DefinitionReader.readStored(
                                    row.getJsonObject("definition").getMap()));
        } catch (RuntimeException unreadable) {
            if (row.getBoolean("set_aside")) {
                return null; // known, and reported by the check of quarantine
            }
            return "its definition cannot be read: " + unreadable.getMessage();
        }
        String told = row.getString("commitment");
        return digest.equals(told) ? null : "it is committed to " + told + ", its seed and definition give " + digest;
    }
}
