package dev.hongbao.engine;

import dev.hongbao.engine.ShardStore.ShardRow;
import dev.hongbao.store.redis.RedisFault;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLink.RedisInfo;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Checks whether Redis is still as recovery prepared it. Callers of scripts notice most losses by NOSCRIPT. This class finds two
 * others. One is a demoted primary that came back: it has its scripts, but another replication id. The other is the loss of a
 * shard without calls. Confined to the persistence verticle's event loop.
 */
final class RedisWatch {
    /** After the first report of a missing generation, the link is doubted this much later; a recovery takes less. */
    private static final long DOUBT_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The wait for an answer while the connection with the locks is idle: well below the silence that ends it. */
    static final long ANSWER_MILLIS = 2_000;

    private final Loop loop;
    private final RedisLinks redis;
    private final Shards shards;

    private final Map<Integer, Missed> missed = new HashMap<>();

    /** The first report of a missing generation. */
    private record Missed(Generation generation, long sinceNanos) {}

    RedisWatch(Loop loop, RedisLinks redis, Shards shards) {
        this.loop = loop;
        this.redis = redis;
        this.shards = shards;
    }

    RedisLinks redis() {
        return redis;
    }

    /** The replication id of a shard's Redis; it changes with every restart and promotion. */
    Future<String> replid(Generation any) {
        return replid(any.link(redis));
    }

    static Future<String> replid(RedisLink server) {
        return RedisInfo.read(server, "replication").map(info -> info.get("master_replid"));
    }

    /**
     * For each of {@code rows}, in their order: whether Redis is as its last recovery left it. It is not if a script is missing,
     * or if its journal or replication id differ. It is not if its journal ends before the cursor: Redis went back in place. It
     * is not if the row is older than the epochs that Redis or this server knows: Postgres went back. A shard's future fails
     * alone if its Redis does not answer.
     *
     * @param rows with cursors that were read before this call; later ones could be beyond the journal that it sees
     */
    List<Future<Boolean>> look(List<ShardRow> rows) {
        Map<RedisLink, Future<String>> replids = new HashMap<>();
        List<Future<Boolean>> looks = new ArrayList<>();
        for (ShardRow row : rows) {
            looks.add(look(
                    row,
                    () -> replids.computeIfAbsent(
                            row.generation().link(redis).server(), server -> replid(row.generation()))));
        }
        return looks;
    }

    /**
     * Handles a report that a generation is missing, though this watch finds it. If reports go on, the reporter and this server
     * use different Redis servers. This server's link may lead to one from before a failover: see
     * {@link RedisLink#leaveIfOutdated}.
     *
     * @param row with the replication id of the Redis in which the generation was last found healthy
     */
    void missed(ShardRow row) {
        Generation generation = row.generation();
        long now = loop.nanos();
        Missed first = missed.compute(
                generation.shard(),
                (shard, before) ->
                        before != null && before.generation.equals(generation) ? before : new Missed(generation, now));
        if (now - first.sinceNanos > DOUBT_NANOS) {
            RedisLink server = generation.link(redis).server();
            var unused = server.leaveIfOutdated(link -> replid(link).map(current -> !current.equals(row.replid())));
        }
    }

    /**
     * Whether the generation is the latest known one, and its scripts and its journal are there, in this replication id. The commands with
     * keys come first: in a cluster their answers correct an old map, by which the others would go to another server.
     */
    private Future<Boolean> look(ShardRow row, Supplier<Future<String>> replid) {
        Generation generation = row.generation();
        if (generation.epoch() == 0 || !shards.adopt(row).generation().equals(generation)) {
            return replid.get().map(any -> false);
        }
        Future<Long> last = lastEntry(generation.journalKey());
        Future<Long> latest = latestEpoch(generation);
        return Future.all(last, latest)
                .compose(keyed -> replid.get())
                .compose(now -> last.result() >= row.lastSeq()
                                && latest.result() <= generation.epoch()
                                && row.replid().equals(now)
                        ? shards.of(row).hasScriptsIn(generation.link(redis))
                        : Future.succeededFuture(false))
                // A missing note alone is no reason to recover: it is written again.
                .compose(isWell -> latest.result() >= generation.epoch() || !isWell
                        ? Future.succeededFuture(isWell)
                        : note(generation).map(isWell));
    }

    /**
     * The latest epoch that was ever prepared in this Redis, whatever Postgres remembers. 0 for none, and for a key of another
     * type or without an epoch.
     */
    Future<Long> latestEpoch(Generation any) {
        return any.link(redis)
                .send(Request.cmd(Command.ZSCORE).arg(any.epochsKey()).arg(any.shard()))
                .map(epoch -> epoch == null ? 0L : epoch.toLong())
                .recover(fault -> fault instanceof NumberFormatException || RedisFault.isWrongType(fault)
                        ? Future.succeededFuture(0L)
                        : Future.failedFuture(fault));
    }

    /** Removes a key of another type. */
    Future<Void> removeUnless(String type, Generation any, String key) {
        return any.link(redis)
                .send(Request.cmd(Command.TYPE).arg(key))
                .compose(held -> held.toString().equals(type) || held.toString().equals("none")
                        ? Future.succeededFuture()
                        : any.link(redis)
                                .send(Request.cmd(Command.UNLINK).arg(key))
                                .mapEmpty());
    }

    /** Notes that a generation is about to be prepared. An earlier epoch than the noted one changes nothing. */
    Future<Void> note(Generation next) {
        return removeUnless("zset", next, next.epochsKey())
                .compose(free -> next.link(redis)
                        .send(Request.cmd(Command.ZADD)
                                .arg(next.epochsKey())
                                .arg("GT")
                                .arg(next.epoch())
                                .arg(next.shard()))
                        .mapEmpty());
    }

    /**
     * The last entry of a journal that was settled and trimmed, by the stream's own counters. A cursor below it lost its
     * settlement. -1 for none, or no journal.
     */
    Future<Long> trimmedUpTo(String journal) {
        // The first entry of a generation is number 0.
        return ofStream(
                journal,
                info -> info.get("entries-added").toLong() - info.get("length").toLong() - 1);
    }

    /** The last entry that was ever added to a journal, trimmed or not; -1 for no journal. */
    private Future<Long> lastEntry(String journal) {
        return ofStream(journal, info -> {
            String id = info.get("last-generated-id").toString();
            return Long.parseLong(id.substring(id.indexOf('-') + 1));
        });
    }

    private Future<Long> ofStream(String journal, Function<Response, Long> entry) {
        return redis.linkFor(journal)
                .send(Request.cmd(Command.XINFO).arg("STREAM").arg(journal))
                .map(entry)
                .recover(fault -> isNoSuchKey(fault) || RedisFault.isWrongType(fault)
                        ? Future.succeededFuture(-1L)
                        : Future.failedFuture(fault));
    }

    static boolean isNoSuchKey(Throwable fault) {
        return RedisFault.is(fault, RedisFault.Kind.ERROR)
                && String.valueOf(fault.getMessage()).contains("no such key");
    }

    /** Whether the unit of a key is completely loaded: the hash may lack the field that all scripts read first. */
    Future<Boolean> isLoaded(String key) {
        return redis.linkFor(key)
                .send(Request.cmd(Command.HEXISTS).arg(key).arg("#"))
                .map(count -> count.toInteger() == 1)
                .recover(fault ->
                        RedisFault.isWrongType(fault) ? Future.succeededFuture(false) : Future.failedFuture(fault));
    }
}
