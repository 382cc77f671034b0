package dev.hongbao.engine.writer;

import dev.hongbao.engine.redis.RedisFault;
import dev.hongbao.engine.redis.RedisInfo;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.redis.Script;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.ShardStore.ShardRow;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;

/**
 * Looks whether Redis is still the one that recovery prepared. The fence (NOSCRIPT) tells most of it to whoever runs a script;
 * this tells the rest: a primary that was demoted and came back has its scripts, but another replication id, and an idle shard
 * runs no script.
 */
final class RedisWatch {
    private final RedisLink redis;
    private final Shards shards;

    RedisWatch(RedisLink redis, Shards shards) {
        this.redis = redis;
        this.shards = shards;
    }

    /** Redis' own name for its history; changes with every restart and promotion. */
    Future<String> replid() {
        return RedisInfo.read(redis, "replication").map(info -> info.get("master_replid"));
    }

    /**
     * Those of {@code rows} whose scripts, journal or replication id are not what recovery left, or that are older than what Redis
     * or this server knows: Postgres went back.
     */
    Future<List<ShardRow>> broken(List<ShardRow> rows) {
        Future<String> replid = replid();
        List<Future<Boolean>> prepared = new ArrayList<>();
        for (ShardRow row : rows) {
            prepared.add(isPrepared(row));
        }
        return replid.compose(current -> Future.all(prepared).map(all -> {
            List<ShardRow> broken = new ArrayList<>();
            for (int i = 0; i < rows.size(); i++) {
                ShardRow row = rows.get(i);
                if (!prepared.get(i).result() || !row.replid().equals(current)) {
                    broken.add(row);
                }
            }
            return broken;
        }));
    }

    /** Whether the generation is the latest that anybody knows, and its scripts and its journal are there. */
    private Future<Boolean> isPrepared(ShardRow row) {
        Generation generation = row.generation();
        if (generation.epoch() == 0 || !shards.adopt(row).generation().equals(generation)) {
            return Future.succeededFuture(false);
        }
        Request exist = Request.cmd(Command.SCRIPT).arg("EXISTS");
        for (Script script : shards.scripts(generation)) {
            exist.arg(script.sha());
        }
        Future<Boolean> scripts = redis.send(exist).map(flags -> {
            for (Response flag : flags) {
                if (flag.toInteger() == 0) {
                    return false;
                }
            }
            return true;
        });
        Future<Boolean> journal = exists(generation.journalKey());
        Future<Long> latest = latestEpoch(generation);
        return Future.all(scripts, journal, latest)
                .map(all -> scripts.result() && journal.result() && latest.result() <= generation.epoch());
    }

    /** The latest epoch that was ever prepared in this Redis, whatever Postgres remembers; 0 for none. */
    Future<Long> latestEpoch(Generation any) {
        return redis.send(Request.cmd(Command.ZSCORE).arg(any.epochsKey()).arg(any.shard()))
                .map(epoch -> epoch == null ? 0 : epoch.toLong());
    }

    /** Notes that a generation is about to be prepared; an earlier one than is noted changes nothing. */
    Future<Void> note(Generation next) {
        return redis.send(Request.cmd(Command.ZADD)
                        .arg(next.epochsKey())
                        .arg("GT")
                        .arg(next.epoch())
                        .arg(next.shard()))
                .mapEmpty();
    }

    /**
     * The last entry of a journal that was settled and trimmed, by what the stream itself has counted: a cursor below it lost its
     * settlement. -1 for none, or no journal.
     */
    Future<Long> trimmedUpTo(String journal) {
        return redis.send(Request.cmd(Command.XINFO).arg("STREAM").arg(journal))
                // The first entry of a generation is number 0.
                .map(info ->
                        info.get("entries-added").toLong() - info.get("length").toLong() - 1)
                .recover(fault -> isNoSuchKey(fault) ? Future.succeededFuture(-1L) : Future.failedFuture(fault));
    }

    static boolean isNoSuchKey(Throwable fault) {
        return RedisFault.is(fault, RedisFault.Kind.ERROR)
                && String.valueOf(fault.getMessage()).contains("no such key");
    }

    /** Whether a key is there. */
    Future<Boolean> exists(String key) {
        return redis.send(Request.cmd(Command.EXISTS).arg(key)).map(count -> count.toInteger() == 1);
    }
}
