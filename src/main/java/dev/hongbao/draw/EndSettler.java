package dev.hongbao.draw;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Mode.Settler;
import dev.hongbao.values.DrawId;
import io.vertx.core.Future;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles the ends of draws and periods. Money and stock return exactly once. */
final class EndSettler implements Settler {
    private static final Logger LOG = LoggerFactory.getLogger(EndSettler.class);

    private static final String SETTLE =
            "select settled_at, closed, wrong from settle_draw_ends($1, $2, $3, $4, $5, $6, $7)";

    private final DrawCleanup closedDraws;

    public EndSettler(DrawCleanup closedDraws) {
        this.closedDraws = closedDraws;
    }

    @Override
    public JournalItem.Format format() {
        return DrawEnd.FORMAT;
    }

    @Override
    public Future<Settlement> prepare(List<JournalItem> items) {
        UUID[] draws =
                items.stream().map(item -> ((DrawEnd) item).draw().value()).toArray(UUID[]::new);
        Integer[] periods =
                items.stream().map(item -> ((DrawEnd) item).period()).toArray(Integer[]::new);
        return Future.succeededFuture((writer, moves) -> moves.send(
                        writer, SETTLE, moves.toTuple().addArrayOfUUID(draws).addArrayOfInteger(periods))
                .map(rows -> {
                    var row = rows.iterator().next();
                    for (UUID wrong : row.getArrayOfUUIDs("wrong")) {
                        LOG.error(
                                "the final table of draw {} does not match its plays or its stock: run reconcile",
                                wrong);
                    }
                    closedDraws.closed(Stream.of(row.getArrayOfUUIDs("closed"))
                            .map(DrawId::new)
                            .toList());
                    return 0;
                }));
    }
}
