package dev.hongbao.journal;

import dev.hongbao.journal.ShardStore.ShardRow;
import dev.hongbao.redis.RedisInfo;
import dev.hongbao.redis.RedisLink;
import dev.hongbao.redis.Script;
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

    /** Those of {@code rows} whose scripts, journal or replication id are not what recovery left. */
    Future<List<ShardRow>> broken(List<ShardRow> rows) {
        Future<String> replid = replid();
        List<Future<Boolean>> prepared = new ArrayList<>();
        for (ShardRow row : rows) {
            prepared.add(isPrepared(row.generation()));
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

    /** Whether the generation's scripts and its journal are there. */
    private Future<Boolean> isPrepared(Generation generation) {
        if (generation.epoch() == 0) {
            return Future.succeededFuture(false);
        }
        Request exist = Request.cmd(Command.SCRIPT).arg("EXISTS");
        for (Script script : shards.adopt(generation).scripts().values()) {
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
        return scripts.compose(loaded -> journal.map(there -> loaded && there));
    }

    /** Whether a key is there. */
    Future<Boolean> exists(String key) {
        return redis.send(Request.cmd(Command.EXISTS).arg(key)).map(count -> count.toInteger() == 1);
    }
}
