package dev.hongbao.engine;

import dev.hongbao.store.redis.RedisFault;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.sqlclient.Pool;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One installation: a database and the servers that work on it. Its namespace is in every key, so that installations may share a
 * Redis. Immutable.
 *
 * @param id in Postgres, and so in every copy of the database
 * @param namespace the option's, or else the first eight digits of the id; short, since every packet's key has it
 */
public record Installation(UUID id, String namespace) {
    /** The prefix of all channels of messages between servers. */
    public static final String CHANNELS = "hongbao:";

    private static final int DIGITS = 8;

    /**
     * Gives the database an id at its very first start; later like {@link #read}. Idempotent.
     *
     * @param namespace null for the id's
     */
    public static Future<Installation> establish(Pool pool, @Nullable String namespace) {
        return pool.query("insert into installation (one) values (true) on conflict do nothing")
                .execute()
                .compose(done -> read(pool, namespace));
    }

    /**
     * The installation of a database that has been started before.
     *
     * @param namespace null for the id's
     */
    public static Future<Installation> read(Pool pool, @Nullable String namespace) {
        return pool.query("select id from installation").execute().map(rows -> {
            UUID id = rows.iterator().next().getUUID(0);
            return new Installation(id, namespace == null ? id.toString().substring(0, DIGITS) : namespace);
        });
    }

    /** The key that signs the messages between servers; during its change also the previous one. */
    public static Future<List<Buffer>> lineKeys(Pool pool) {
        return pool.query("select line_key, line_key_before from installation")
                .execute()
                .map(rows -> rows.iterator().next())
                .map(row -> Stream.of(row.getBuffer(0), row.getBuffer(1))
                        .filter(Objects::nonNull)
                        .toList());
    }

    /**
     * Claims the namespace for all shards whose Redis answers; the others are claimed by their recovery.
     *
     * @return fails with a message for the operator if one belongs to another installation; fails also if no shard's Redis
     *     answers
     */
    public Future<Void> claimAll(RedisLinks redis, int shards) {
        List<Future<Void>> claims = IntStream.range(0, shards)
                .mapToObj(shard -> claim(redis, shard))
                .toList();
        return Future.join(claims).<Void>mapEmpty().recover(fault -> {
            boolean answered = claims.stream().anyMatch(Future::succeeded);
            return claims.stream()
                    .map(Future::cause)
                    .filter(cause -> cause instanceof IllegalStateException)
                    .findFirst()
                    .map(Future::<Void>failedFuture)
                    .orElseGet(() -> answered ? Future.succeededFuture() : Future.failedFuture(fault));
        });
    }

    /**
     * Claims the namespace for a shard, by a key outside of generations with the owner's id. Idempotent.
     *
     * @return fails with a message for the operator if it belongs to another installation
     */
    public Future<Void> claim(RedisLinks redis, int shard) {
        String key = key(namespace, shard);
        RedisLink link = redis.linkFor(key);
        Request read = Request.cmd(Command.GET).arg(key);
        // Read before the write: a full Redis refuses writes.
        return link.send(read)
                .transform(got -> {
                    if (got.succeeded()
                            ? got.result() == null || isId(got.result())
                            : !RedisFault.isWrongType(got.cause())) {
                        return got.succeeded()
                                ? Future.succeededFuture(got.result())
                                : Future.failedFuture(got.cause());
                    }
                    // Any other content belongs to no installation.
                    return link.send(Request.cmd(Command.UNLINK).arg(key)).map((Response) null);
                })
                .compose(there -> there != null
                        ? Future.succeededFuture(there)
                        : link.send(Request.cmd(Command.SET)
                                        .arg(key)
                                        .arg(id.toString())
                                        .arg("NX"))
                                .compose(set -> link.send(read)))
                .compose(this::holds);
    }

    private static boolean isId(Response owner) {
        try {
            UUID.fromString(owner.toString());
            return true;
        } catch (IllegalArgumentException nonsense) {
            return false;
        }
    }

    /** The key with the id of the installation that owns a shard's keys. */
    public static String key(String namespace, int shard) {
        return Generation.shardPrefix(namespace, shard) + "installation";
    }

    /** The channel for the messages to a server. @param to its name, or {@code all} */
    public static String channel(String namespace, String to) {
        return CHANNELS + namespace + ":" + to;
    }

    private Future<Void> holds(@Nullable Response owner) {
        return owner == null || owner.toString().equals(id.toString())
                ? Future.succeededFuture()
                : Future.failedFuture(new IllegalStateException("redis.namespace: the keys of \"" + namespace
                        + "\" in this Redis belong to" + " the installation " + owner + ", and this one is " + id
                        + "; choose another namespace"));
    }
}
