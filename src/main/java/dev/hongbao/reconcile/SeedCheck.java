package dev.hongbao.reconcile;

import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.Prize;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.packet.Packet.Commitment;
import dev.hongbao.packet.split.Split;
import dev.hongbao.packet.split.SplitTerms;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Rows.Pages;
import dev.hongbao.values.Asset;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Recomputes what the seeds of packets, draws and rains give, where no query can. Reads page by page, and computes on a worker. One instance
 * a run.
 */
final class SeedCheck {
    private static final String PACKETS = """
        select p.id, p.asset, p.amount, p.count, p.min, p.max, p.split, p.split_version, p.seed, p.luckiest,
               encode(p.commitment, 'hex') as commitment, b.amounts,
               p.id is distinct from lead(p.id) over (order by p.id, b.block) as is_last,
               exists (select from quarantine_unit as q where q.id = p.id) as set_aside
        from packet as p left join packet_amounts as b on b.packet = p.id
        order by p.id, b.block
        """;

    private static final String DRAWS = """
        select d.id, d.seed, encode(d.commitment, 'hex') as commitment, d.definition,
               array(select format('%s %s %s %s %s', z.amount, e.asset, z.stock, z.announced, z.name)
                     from prize as z left join account as e on e.id = z.escrow where z.draw = d.id order by z.n) as prizes,
               exists (select from quarantine_unit as q where q.id = d.id) as set_aside
        from draw as d order by d.id
        """;

    /** A drop that had not fallen at the cancel opens just before it, so that it can be closed. */
    private static final String RAINS = """
        select r.id, r.seed, r.starts_at, r.last_at, r.drops, r.cancelled_at - interval '1 microsecond' as cut_off,
               array_agg(p.opens_at order by p.opens_at) as moments
        from rain as r join pool as o on o.campaign = r.id join packet as p on p.id = o.packet
        group by r.id, r.seed, r.starts_at, r.last_at, r.drops, r.cancelled_at order by r.id
        """;

    private final Vertx vertx;
    private final String name;
    private final String sql;
    private final Function<Row, @Nullable String> fault;
    private final List<String> lines = new ArrayList<>();

    /**
     * @param name of the rule, for {@link Finding}
     * @param sql selects the rows
     * @param fault gives a row's violation; null for none
     */
    private SeedCheck(Vertx vertx, String name, String sql, Function<Row, @Nullable String> fault) {
        this.vertx = vertx;
        this.name = name;
        this.sql = sql;
        this.fault = fault;
    }

    /** The checks of a run, in order, each by the scope of its rows. A constraint checks the commitment of rains. */
    static Map<Scope, SeedCheck> all(Vertx vertx) {
        Map<Scope, SeedCheck> all = new EnumMap<>(Scope.class);
        all.put(
                Scope.PACKETS,
                new SeedCheck(
                        vertx,
                        "the seed of every packet gives its commitment and the amounts of its slots",
                        PACKETS,
                        new Splits()::fault));
        all.put(
                Scope.DRAWS,
                new SeedCheck(
                        vertx,
                        "the seed and the definition of every draw give its commitment and its prizes",
                        DRAWS,
                        SeedCheck::draw));
        all.put(
                Scope.CAMPAIGNS,
                new SeedCheck(
                        vertx,
                        "the drops of every rain fall at the moments that its seed gives",
                        RAINS,
                        SeedCheck::rain));
        return all;
    }

    /** A copy for a run from the checkpoint. */
    SeedCheck over(Scope scope) {
        return new SeedCheck(vertx, name, scope.over(sql), fault);
    }

    /**
     * @param connection in a transaction
     * @param parameters of the query
     */
    Future<Finding> run(SqlConnection connection, Tuple parameters) {
        return Pages.ofQuery(
                        connection,
                        sql,
                        parameters,
                        page -> vertx.executeBlocking(() -> {
                            look(page);
                            return null;
                        }))
                .map(read -> found());
    }

    /** The finding so far. */
    Finding found() {
        return new Finding("I2", name, Severity.VIOLATION, lines);
    }

    private void look(RowSet<Row> page) {
        for (Row row : page) {
            String line = lines.size() < Reconciliation.MAX_LINES ? fault.apply(row) : null;
            if (line != null) {
                lines.add(line);
            }
        }
    }

    private static @Nullable String draw(Row row) {
        UUID id = row.getUUID("id");
        DrawDefinition definition;
        String digest;
        try {
            definition =
                    DrawDefinition.readStored(row.getJsonObject("definition").getMap());
            digest = new Seed(row.getBuffer("seed").getBytes()).commitment(id, definition);
        } catch (RuntimeException unreadable) {
            return row.getBoolean("set_aside") // known, and reported by the check of quarantine
                    ? null
                    : "draw " + id + ": its definition cannot be read: " + unreadable.getMessage();
        }
        String told = row.getString("commitment");
        if (!digest.equals(told)) {
            return "draw " + id + ": it is committed to " + told + ", its seed and definition give " + digest;
        }
        List<String> prizes = List.of(row.getArrayOfStrings("prizes"));
        return prizes.equals(prizes(definition))
                ? null
                : "draw " + id + ": its prizes are not of its definition: " + prizes;
    }

    /** As the query writes them. */
    private static List<String> prizes(DrawDefinition definition) {
        List<String> prizes = new ArrayList<>();
        for (Prize prize : definition.allPrizes()) {
            Asset asset = prize.award().asset();
            prizes.add("%d %s %s %s %s"
                    .formatted(
                            prize.award().amount(),
                            asset == null ? "" : asset.code(),
                            prize.stock() == null ? "" : prize.stock(),
                            definition.isAnnounced(prizes.size() + 1) ? "t" : "f",
                            prize.name()));
        }
        return prizes;
    }

    private static @Nullable String rain(Row row) {
        Instant latest = Objects.requireNonNullElse(Rows.instantOrNull(row, "cut_off"), Instant.MAX);
        List<Instant> expected = new Seed(row.getBuffer("seed").getBytes())
                .moments(Rows.instant(row, "starts_at"), Rows.instant(row, "last_at"), row.getInteger("drops")).stream()
                        .map(moment -> moment.isAfter(latest) ? latest : moment)
                        .toList();
        List<Instant> moments = Stream.of(row.getArrayOfOffsetDateTimes("moments"))
                .map(OffsetDateTime::toInstant)
                .toList();
        return moments.equals(expected)
                ? null
                : "rain " + row.getUUID("id") + ": its drops fall at other moments than its seed gives";
    }

    /** Splits every packet again. */
    private static final class Splits {
        /** The rows of one packet, each with a block of its amounts. */
        private final List<Row> blocks = new ArrayList<>();

        @Nullable
        String fault(Row row) {
            blocks.add(row);
            if (!row.getBoolean("is_last")) {
                return null;
            }
            String fault = split(row);
            blocks.clear();
            return fault == null ? null : "packet " + row.getUUID("id") + ": " + fault;
        }

        private @Nullable String split(Row row) {
            if (row.getInteger("split_version") != SplitAlgorithm.VERSION) {
                return "its split is of version " + row.getInteger("split_version")
                        + ", which this program does not know";
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
            long[] stored = blocks.stream()
                    .flatMapToLong(block -> longs(block.getArrayOfLongs("amounts")))
                    .toArray();
            for (int slot = 0; slot < Math.max(split.length, stored.length); slot++) {
                if (slot >= split.length || slot >= stored.length || split[slot] != stored[slot]) {
                    return "slot " + slot + " is " + (slot < stored.length ? stored[slot] : "missing")
                            + ", its seed gives " + (slot < split.length ? split[slot] : "no such slot");
                }
            }
            return row.getInteger("luckiest") == Split.luckiest(split) ? null : "its luckiest slot is another";
        }

        private static LongStream longs(Long @Nullable [] amounts) {
            return amounts == null ? LongStream.empty() : Stream.of(amounts).mapToLong(Long::longValue);
        }
    }
}
