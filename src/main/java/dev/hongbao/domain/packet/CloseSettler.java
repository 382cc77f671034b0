package dev.hongbao.domain.packet;

import dev.hongbao.engine.journal.JournalFormat;
import dev.hongbao.engine.journal.JournalItem;
import dev.hongbao.engine.journal.Settler;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

/** Settles closes: each packet is refunded exactly once (invariant I8). */
public final class CloseSettler implements Settler {
    private static final String SETTLE =
            "select settled_at, closed, closed_shards from settle_closes($1, $2, $3, $4, $5, $6)";

    private final PacketCleanup ends;

    public CloseSettler(PacketCleanup ends) {
        this.ends = ends;
    }

    @Override
    public JournalFormat format() {
        return Close.FORMAT;
    }

    @Override
    public Future<Settlement> prepare(List<JournalItem> items) {
        UUID[] packets =
                items.stream().map(item -> ((Close) item).packet().value()).toArray(UUID[]::new);
        return Future.succeededFuture((writer, moves) -> moves.send(
                        writer, SETTLE, moves.toTuple().addArrayOfUUID(packets))
                .map(rows -> {
                    Row row = rows.iterator().next();
                    UUID[] closed = row.getArrayOfUUIDs("closed");
                    Short[] shards = row.getArrayOfShorts("closed_shards");
                    ends.ended(IntStream.range(0, closed.length)
                            .mapToObj(i -> new PacketCleanup.Ended(new PacketId(closed[i]), shards[i]))
                            .toList());
                    return 0;
                }));
    }
}
