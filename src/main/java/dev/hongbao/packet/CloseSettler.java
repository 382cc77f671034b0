package dev.hongbao.packet;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Mode.Settler;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.PacketId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles closes. Each packet is refunded exactly once (invariant I8). */
final class CloseSettler implements Settler {
    private static final Logger LOG = LoggerFactory.getLogger(CloseSettler.class);

    private static final String SETTLE =
            "select settled_at, closed, closed_shards, early from settle_closes($1, $2, $3, $4, $5, $6, $7, $8)";

    private final EndedPackets ends;

    public CloseSettler(EndedPackets ends) {
        this.ends = ends;
    }

    @Override
    public JournalItem.Format format() {
        return Close.FORMAT;
    }

    @Override
    public Future<Settlement> prepare(List<JournalItem> items) {
        List<Close> closes = items.stream().map(Close.class::cast).toList();
        UUID[] packets =
                Rows.column(closes, UUID[]::new, close -> close.packet().value());
        String[] endings = Rows.texts(
                closes, close -> close.ending() == null ? null : close.ending().wireName());
        String[] enders = Rows.texts(
                closes, close -> close.by() == null ? null : close.by().value());
        return Future.succeededFuture((writer, moves) -> moves.send(
                        writer,
                        SETTLE,
                        moves.toTuple()
                                .addArrayOfUUID(packets)
                                .addArrayOfString(endings)
                                .addArrayOfString(enders))
                .map(rows -> {
                    Row row = rows.iterator().next();
                    UUID[] closed = row.getArrayOfUUIDs("closed");
                    Short[] shards = row.getArrayOfShorts("closed_shards");
                    ends.ended(IntStream.range(0, closed.length)
                            .mapToObj(i -> new EndedPackets.Ended(new PacketId(closed[i]), shards[i]))
                            .toList());
                    UUID[] early = row.getArrayOfUUIDs("early");
                    for (UUID open : early) {
                        LOG.error("the close of {} is void: its time has not come", open);
                    }
                    return early.length;
                }));
    }
}
