package dev.hongbao.store.redis;

import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The commands that the server and its scripts need. An ACL or rename-command may remove one, so each Redis is checked.
 * Stateless.
 */
public final class RedisCommands {
    /** In the names of an ACL, without the commands that set up a connection. */
    public static final List<String> NEEDED = List.of(("evalsha script|load script|exists"
                    + " get set incr exists unlink expire renamenx scan type"
                    + " hget hset hsetnx hmget hgetall hexists hlen"
                    + " zadd zrem zscore zmscore zcount zrange zrangebyscore zremrangebyscore"
                    + " xadd xlen xrange xtrim xinfo|stream")
            .split(" "));

    /** For messages between servers. Without them, servers find the same news in the stores. */
    public static final List<String> OF_LINE = List.of("publish", "subscribe");

    private static final Script PROBE = Script.of(Script.read("commands"));

    private RedisCommands() {}

    /**
     * Asks a server which needed commands it lacks, in one call. It runs none of them.
     *
     * @param key one of the server's keys, since an ACL may restrict keys, too
     * @return empty if all are there; fails if the server does not answer
     */
    public static Future<List<String>> missing(RedisLink server, String key) {
        return missing(server, NEEDED, key);
    }

    /**
     * Asks a server which of the given commands it lacks, in one call.
     *
     * @param key one of the server's keys or channels
     * @return empty if all are there; fails if the server does not answer
     */
    public static Future<List<String>> missing(RedisLink server, List<String> commands, String key) {
        return probe(server, commands, key)
                .recover(fault -> RedisFault.is(fault, RedisFault.Kind.NO_SCRIPT)
                        ? load(server).compose(loaded -> probe(server, commands, key))
                        : Future.failedFuture(fault))
                .recover(fault -> fault instanceof RedisFault redis && redis.missingCommand() != null
                        ? Future.succeededFuture(List.of(redis.missingCommand()))
                        : Future.failedFuture(fault));
    }

    /** @return one sentence for the operator */
    public static String lacks(List<String> missing) {
        return "this Redis lacks " + String.join(", ", missing)
                + ", or does not allow it: allow it to the user in its ACL, and remove its rename-command";
    }

    /** Fails if the server lacks commands; the message names them. */
    public static Future<Void> require(RedisLink server, String key) {
        return missing(server, key)
                .compose(missing -> missing.isEmpty()
                        ? Future.succeededFuture()
                        : Future.failedFuture(new IllegalStateException(lacks(missing))));
    }

    private static Future<@Nullable Response> load(RedisLink server) {
        return server.send(Request.cmd(Command.SCRIPT).arg("LOAD").arg(PROBE.text()));
    }

    private static Future<List<String>> probe(RedisLink server, List<String> commands, String key) {
        Request request = Request.cmd(Command.EVALSHA).arg(PROBE.sha()).arg(0).arg(key);
        commands.forEach(request::arg);
        return server.send(request).map(reply -> {
            List<String> missing = new ArrayList<>();
            if (reply != null) {
                reply.forEach(each -> missing.add(each.toString()));
            }
            return missing;
        });
    }
}
