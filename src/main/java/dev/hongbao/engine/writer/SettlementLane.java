package dev.hongbao.engine.writer;

import dev.hongbao.engine.journal.SettlementBatch;
import io.vertx.sqlclient.SqlClient;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A connection, and the shards that are settled on it one transaction after the other: says which is next, and when. A large one goes
 * behind the one under way, so that Postgres goes on without waiting for us; should the first fail, the second's cursor is stale.
 * Confined to the persistence verticle's event loop.
 */
final class SettlementLane {
    private static final int MAX_UNDER_WAY = 2;

    /**
     * Items that are worth a transaction before the one under way is done, if that one has no more; fewer gather, since a commit
     * costs as much for one.
     */
    private static final int LARGE = 256;

    private final SqlClient writer;
    private final List<ShardLog> shards;
    private final SettledAlone alone;
    private final int maxItems;
    private boolean preparing;
    private int underWay;
    private int lastSize;
    private int first;

    /**
     * @param shards maybe none
     * @param alone the shards that are settled alone, or rest
     * @param maxItems that one settlement takes
     */
    SettlementLane(SqlClient writer, List<ShardLog> shards, SettledAlone alone, int maxItems) {
        this.writer = writer;
        this.shards = shards;
        this.alone = alone;
        this.maxItems = maxItems;
    }

    SqlClient writer() {
        return writer;
    }

    boolean isIdle() {
        return !preparing && underWay == 0;
    }

    /** Whether what waits is worth a connection of its own. */
    boolean hasMuch() {
        return waiting() >= LARGE;
    }

    private int waiting() {
        return shards.stream().mapToInt(ShardLog::pendingItems).sum();
    }

    /** Takes what is to be prepared now, until {@link #prepared}; null for nothing. */
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

    /** In whatever way. */
    void ended() {
        underWay--;
    }

    private @Nullable SettlementBatch take() {
        for (int tried = 0; tried < shards.size(); tried++) {
            first = (first + 1) % shards.size();
            String verb = shards.get(first).nextVerb();
            if (!verb.isEmpty() && !alone.rests(shards.get(first))) {
                return batch(verb);
            }
        }
        return null;
    }

    /** Of the first shard, and of all others that are not settled alone. */
    private SettlementBatch batch(String verb) {
        SettlementBatch batch = new SettlementBatch(verb);
        int count = alone.contains(shards.get(first).shard()) ? 1 : shards.size();
        for (int i = 0; i < count && batch.size() < maxItems; i++) {
            ShardLog log = shards.get((first + i) % shards.size());
            if (i == 0 || !alone.contains(log.shard())) {
                log.take(verb, maxItems - batch.size(), batch);
            }
        }
        return batch;
    }
}
