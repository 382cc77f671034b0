package dev.hongbao.draw;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Mode.Settler;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.DrawId;
import io.vertx.core.Future;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles the ends of draws and periods. Money and stock return exactly once. */
final class EndSettler implements Settler {
    private static final Logger LOG = LoggerFactory.getLogger(EndSettler.class);

    private static final String SETTLE =
            "select settled_at, closed, wrong, early from settle_draw_ends($1, $2, $3, $4, $5, $6, $7)";

    private final Queue<DrawId> closedDraws;

    /** @param closedDraws gets the draws that a committed settlement closed, while it has room */
    public EndSettler(Queue<DrawId> closedDraws) {
        this.closedDraws = closedDraws;
    }

    @Override
    public JournalItem.Format format() {
        return DrawEnd.FORMAT;
    }

    @Override
    public Future<Settlement> prepare(List<JournalItem> items) {
        UUID[] draws =
                Rows.column(items, UUID[]::new, item -> ((DrawEnd) item).draw().value());
        Integer[] periods = Rows.column(items, Integer[]::new, item -> ((DrawEnd) item).period());
        return Future.succeededFuture((writer, moves) -> moves.send(
                        writer, SETTLE, moves.toTuple().addArrayOfUUID(draws).addArrayOfInteger(periods))
                .map(rows -> {
                    var row = rows.iterator().next();
                    for (UUID wrong : row.getArrayOfUUIDs("wrong")) {
                        LOG.error(
                                "the final table of draw {} does not match its plays or its stock: run reconcile",
                                wrong);
                    }
                    for (UUID closed : row.getArrayOfUUIDs("closed")) {
                        var unused = closedDraws.offer(new DrawId(closed));
                    }
                    UUID[] early = row.getArrayOfUUIDs("early");
                    for (UUID open : early) {
                        LOG.error("the end of draw {} is void: its time has not come", open);
                    }
                    return early.length;
                }));
    }
}
