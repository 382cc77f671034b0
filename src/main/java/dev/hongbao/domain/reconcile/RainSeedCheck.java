package dev.hongbao.domain.reconcile;

import dev.hongbao.domain.fairness.RainSeed;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Row;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Checks that the moments of every rain follow from its seed. A constraint checks that the commitment does. */
final class RainSeedCheck {
    /** A drop that had not fallen at the cancel opens just before it, so that it can be closed. */
    private static final String RAINS = "select r.id, r.seed, r.starts_at, r.last_at, r.drops,"
            + " r.cancelled_at - interval '1 microsecond' as cut_off, array_agg(p.opens_at order by p.opens_at) as moments"
            + " from rain as r join pool as o on o.campaign = r.id join packet as p on p.id = o.packet"
            + " group by r.id, r.seed, r.starts_at, r.last_at, r.drops, r.cancelled_at order by r.id";

    private RainSeedCheck() {}

    static RowCheck of(Vertx vertx) {
        return new RowCheck(
                vertx, "the drops of every rain fall at the moments that its seed gives", RAINS, RainSeedCheck::line);
    }

    private static @Nullable String line(Row row) {
        return keepsItsMoments(row)
                ? null
                : "rain " + row.getUUID("id") + ": its drops fall at other moments than its seed gives";
    }

    private static boolean keepsItsMoments(Row row) {
        OffsetDateTime cutOff = row.getOffsetDateTime("cut_off");
        Instant latest = cutOff == null ? Instant.MAX : cutOff.toInstant();
        List<Instant> expected = new RainSeed(row.getBuffer("seed").getBytes())
                        .moments(
                                row.getOffsetDateTime("starts_at").toInstant(),
                                row.getOffsetDateTime("last_at").toInstant(),
                                row.getInteger("drops"))
                        .stream()
                        .map(moment -> moment.isAfter(latest) ? latest : moment)
                        .toList();
        return Stream.of(row.getArrayOfOffsetDateTimes("moments"))
                .map(OffsetDateTime::toInstant)
                .toList()
                .equals(expected);
    }
}
