package dev.hongbao.engine;

import io.vertx.sqlclient.SqlClient;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A connection and its shards: selects the next transaction and its time. A large transaction is sent behind the one under way,
 * so that Postgres never waits for us. If the first one fails, the second one's cursor is stale. Confined to the persistence
 * verticle's event loop.
 */
final class SettlementLane {
    private static final int MAX_UNDER_WAY = 2;

    /**
     * With so many waiting items, and no fewer than in the transaction under way, the next one starts at once. Fewer gather,
     * since a commit costs as much for one item.
     */
    private static final int LARGE = 256;

    private final SqlClient writer;
    private final List<ShardLog> shards;
    private boolean preparing;
    private int underWay;
    private int lastSize;
    private int first;

    /** @param shards may be empty */
    SettlementLane(SqlClient writer, List<ShardLog> shards) {
        this.writer = writer;
        this.shards = shards;
    }

    SqlClient writer() {
        return writer;
    }

    boolean isIdle() {
        return !preparing && underWay == 0;
    }

    /** Whether the pending items are worth a connection of their own. */
    boolean hasMuch() {
        return waiting() >= LARGE;
    }

    private int waiting() {
        return shards.stream().mapToInt(ShardLog::pendingItems).sum();
    }

    /** Takes the next batch to prepare; the lane then waits for {@link #prepared}. Null for none. */
    @Nullable
    SettlementBatch next() {
        boolean gathers = underWay > 0 && waiting() < Math.max(LARGE, lastSize);
        if (preparing || underWay == MAX_UNDER_WAY || gathers) {
            return null;
        }
        SettlementBatch batch = take();
        if (batch != null) {
            preparing = true;
            lastSize = batch.size();
        }
        return batch;
    }

    void prepared() {
        preparing = false;
    }

    void sent() {
        underWay++;
    }

    /** Notes the end of a transaction, successful or not. */
    void ended() {
        underWay--;
    }

    private @Nullable SettlementBatch take() {
        for (int tried = 0; tried < shards.size(); tried++) {
            first = (first + 1) % shards.size();
            String verb = shards.get(first).nextVerb();
            if (!verb.isEmpty() && !shards.get(first).rests()) {
                return batch(verb);
            }
        }
        return null;
    }

    /** A batch of the first shard, and of all others that are not settled alone. */
    private SettlementBatch batch(String verb) {
        SettlementBatch batch = new SettlementBatch(verb);
        int count = shards.get(first).isAlone() ? 1 : shards.size();
        for (int i = 0; i < count && batch.size() < BatchSettler.MAX_ITEMS; i++) {
            ShardLog log = shards.get((first + i) % shards.size());
            if (i == 0 || !log.isAlone()) {
                log.take(verb, BatchSettler.MAX_ITEMS - batch.size(), batch);
            }
        }
        return batch;
    }
}
