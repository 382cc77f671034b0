package dev.hongbao.engine.journal;

import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Generation;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Compares what Redis has of a shard to what is settled in Postgres and what the journal still has. Sees one mode's keys; one
 * use, on the link's event loop.
 */
public interface RedisComparison {
    /** Takes an item of the journal that is not settled, in the journal's order; those of other modes are passed over. */
    void unsettled(JournalItem item);

    /**
     * Compares, after the last item. What it calls wrong is wrong also while the shard is at work.
     *
     * @param later reads what the journal has now
     */
    Future<Differences> differences(Supplier<Future<List<JournalItem>>> later);

    /**
     * What differs, a sentence each.
     *
     * @param missing keys of open packets, draws and campaigns that are not there at all: lost, or not brought there yet. The first
     *     script that needs one answers so, and the shard is recovered before anything is given
     * @param wrong keys that are there and say something else
     */
    record Differences(List<String> missing, List<String> wrong) {
        public Differences {
            missing = List.copyOf(missing);
            wrong = List.copyOf(wrong);
        }

        /** All of it as missing, since nothing of it counts as wrong. */
        public Differences excused() {
            return new Differences(
                    Stream.concat(missing.stream(), wrong.stream()).toList(), List.of());
        }
    }

    /** Makes the comparison of one generation. */
    interface Factory {
        RedisComparison of(Pool pool, RedisLink redis, Generation generation);
    }
}
