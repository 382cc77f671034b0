package dev.hongbao.domain.reconcile;

import dev.hongbao.domain.fairness.Commitment;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.split.Split;
import dev.hongbao.domain.split.SplitAlgorithm;
import dev.hongbao.domain.split.SplitTerms;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Splits every packet again: its seed must give its commitment and the amounts of its slots. One instance a run. */
final class SplitCheck {
    private static final String PACKETS = """
        select p.id, p.asset, p.amount, p.count, p.min, p.max, p.split, p.split_version, p.seed, p.luckiest,
               encode(p.commitment, 'hex') as commitment, b.amounts,
               p.id is distinct from lead(p.id) over (order by p.id, b.block) as is_last,
               exists (select from quarantine_unit as q where q.id = p.id) as set_aside
        from packet as p left join packet_amounts as b on b.packet = p.id
        order by p.id, b.block
        """;

    /** The rows of one packet, each with a block of its amounts. */
    private final List<Row> rows = new ArrayList<>();

    private SplitCheck() {}

    static RowCheck of(Vertx vertx) {
        return new RowCheck(
                vertx,
                "the seed of every packet gives its commitment and the amounts of its slots",
                PACKETS,
                new SplitCheck()::line);
    }

    private @Nullable String line(Row row) {
        rows.add(row);
        if (!row.getBoolean("is_last")) {
            return null;
        }
        String fault = fault(row);
        rows.clear();
        return fault == null ? null : "packet " + row.getUUID("id") + ": " + fault;
    }

    private @Nullable String fault(Row row) {
        if (row.getInteger("split_version") != SplitAlgorithm.VERSION) {
            return "its split is of version " + row.getInteger("split_version") + ", which this program does not know";
        }
        byte[] seed = row.getBuffer("seed").getBytes();
        SplitTerms terms;
        Commitment commitment;
        try {
            terms = new SplitTerms(
                    SplitAlgorithm.of(row.getString("split")),
                    row.getLong("amount"),
                    row.getInteger("count"),
                    row.getLong("min"),
                    row.getLong("max"));
            commitment = Commitment.of(row.getUUID("id"), new Asset(row.getString("asset")), terms, seed);
        } catch (IllegalArgumentException impossible) {
            // A packet set aside is known, and reported by the check of quarantine.
            return row.getBoolean("set_aside") ? null : impossible.getMessage();
        }
        if (!commitment.digest().equals(row.getString("commitment"))) {
            return "it is committed to " + row.getString("commitment") + ", its seed and terms give "
                    + commitment.digest();
        }
        long[] split = Split.amounts(terms, seed);
        long[] stored = rows.stream()
                .flatMapToLong(block -> longs(block.getArrayOfLongs("amounts")))
                .toArray();
        for (int slot = 0; slot < Math.max(split.length, stored.length); slot++) {
            if (slot >= split.length || slot >= stored.length || split[slot] != stored[slot]) {
                return "slot " + slot + " is " + (slot < stored.length ? stored[slot] : "missing") + ", its seed gives "
                        + (slot < split.length ? split[slot] : "no such slot");
            }
        }
        return row.getInteger("luckiest") == Split.luckiest(split) ? null : "its luckiest slot is another";
    }

    private static LongStream longs(Long @Nullable [] amounts) {
        return amounts == null ? LongStream.empty() : Stream.of(amounts).mapToLong(Long::longValue);
    }
}
