package dev.hongbao.engine;

import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.store.redis.RedisLink;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Compares a shard in Redis to its settled state in Postgres and its journal. Covers one mode's keys. One use, on the link's
 * event loop.
 */
public interface RedisComparison {
    /**
     * Compares. A difference in {@code wrong} is an error even while the shard is at work.
     *
     * @param before the unsettled items of the journal, in its order; other modes are ignored
     * @param later reads the journal again
     */
    Future<Differences> differences(List<JournalItem> before, Supplier<Future<List<JournalItem>>> later);

    /**
     * The differences, one sentence each.
     *
     * @param missing keys of open packets, draws and campaigns that Redis lacks: lost, or not loaded yet. The first script that
     *     needs one reports it, and the shard is recovered before the script grants anything
     * @param wrong keys with other contents than expected
     */
    record Differences(List<String> missing, List<String> wrong) {
        public Differences {
            missing = List.copyOf(missing);
            wrong = List.copyOf(wrong);
        }

        /** Counts all differences as missing: none of them is an error. */
        public Differences excused() {
            return new Differences(
                    Stream.concat(missing.stream(), wrong.stream()).toList(), List.of());
        }
    }

    interface Factory {
        RedisComparison of(Pool pool, RedisLink redis, Generation generation);
    }
}
