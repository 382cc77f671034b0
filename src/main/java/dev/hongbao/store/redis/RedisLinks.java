package dev.hongbao.store.redis;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * One event loop's connections to Redis, to one server or many. Made on that event loop and used on it only.
 *
 * <p>A caller with many commands for one shard gets the shard's link once: it stays valid wherever the shard's keys move.
 */
public interface RedisLinks {
    /**
     * Opens connections on the current event loop. Fails if Redis does not answer, and then leaves nothing open.
     *
     * @param url {@code redis://[user:password@]host[:port][/db]} for one server, {@code redis+cluster://[…@]host[:port],…} for a
     *     Redis Cluster, {@code redis+sentinel://[…@]host[:port],…/master-name} for a server behind sentinels. With
     *     {@code rediss} they use TLS; this JVM must trust the certificates, and they must name the hosts
     * @param timeout for connecting and for each reply
     * @param name for the log
     */
    static Future<RedisLinks> open(Vertx vertx, String url, Duration timeout, String name) {
        RedisAddress address = RedisAddress.parse(url);
        return switch (address.kind()) {
            case SERVER ->
                ServerLink.open(vertx, address.options(), timeout, name).map(link -> link);
            case CLUSTER -> ClusterLinks.open(vertx, address, timeout, name);
            case SENTINEL -> SentinelLinks.open(vertx, address, timeout, name);
        };
    }

    /** The link for commands about a key. Keys with one hash tag share a link, and only such keys may share a command. */
    RedisLink linkFor(String key);

    /** The servers that hold keys now, each once: for commands about a server and not about a key. */
    List<RedisLink> servers();

    /**
     * Subscribes to channels on a connection of its own, in the background. A cluster forwards each message to all its nodes.
     *
     * @param heard gets the channel and the message, on this event loop
     */
    Subscription subscribe(List<String> channels, BiConsumer<String, Buffer> heard);

    /** Closes the links for good, without the subscriptions; idempotent. */
    Future<Void> close();

    /**
     * Removes keys, with one command for each link. Idempotent.
     *
     * @return fails if one of the commands does
     */
    default Future<Void> unlink(Collection<String> keys) {
        Map<RedisLink, Request> commands = new LinkedHashMap<>();
        for (String key : keys) {
            commands.computeIfAbsent(linkFor(key), link -> Request.cmd(Command.UNLINK))
                    .arg(key);
        }
        List<Future<?>> sent = new ArrayList<>();
        commands.forEach((link, unlink) -> sent.add(link.send(unlink)));
        return Future.join(sent).mapEmpty();
    }
}
