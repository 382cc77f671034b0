package dev.hongbao.testing;

import dev.hongbao.store.redis.Script;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import redis.clients.jedis.Jedis;

/** Calls a script of a shard's current generation, as a server does, but at a test's own bidding. */
public final class ShardScript {
    private final TestServers servers;
    private final Books books;

    public ShardScript(TestServers servers) {
        this.servers = servers;
        this.books = new Books(servers);
    }

    /**
     * @param name of the script
     * @param keys without the shard's generation, as {@code journal} or {@code p:<packet>}
     * @param arguments texts, numbers or byte[]
     * @return the second element of the script's answer, the outcomes mostly
     */
    public String call(int shard, String name, List<String> keys, Object... arguments) {
        String stamp = books.stamps().get(shard);
        String text = Script.read(name)
                .replace("@generation@", stamp)
                .replace("@epoch@", stamp.replaceAll(".*:(\\d+)-.*", "$1"))
                .replace("@replid@", "");
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            List<?> reply = (List<?>) redis.eval(
                    bytes(text),
                    keys.stream().map(key -> bytes(stamp + ":" + key)).toList(),
                    Stream.of(arguments).map(ShardScript::bytes).toList());
            return reply.get(1) instanceof byte[] outcomes
                    ? new String(outcomes, StandardCharsets.UTF_8)
                    : String.valueOf(reply.get(1));
        }
    }

    private static byte[] bytes(Object value) {
        return value instanceof byte[] raw ? raw : String.valueOf(value).getBytes(StandardCharsets.UTF_8);
    }
}
