package dev.hongbao.testing;

import dev.hongbao.store.redis.MessagePack;
import dev.hongbao.store.redis.Script;
import dev.hongbao.values.DrawId;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import redis.clients.jedis.Jedis;

/** Calls a script of a shard's current generation, as a server does, but at a test's own bidding. */
public final class ShardScript {
    private static final String ATTEMPTS = "attempts";

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

    /** Plays a request of one draw of shard 0, now. @return the outcome */
    public String play(DrawId draw, UUID request, UUID attempt, String user, int plays, boolean isPaid) {
        return play(draw, request, attempt, user, plays, isPaid, Instant.now());
    }

    /** @param at what the server takes for now */
    public String play(DrawId draw, UUID request, UUID attempt, String user, int plays, boolean isPaid, Instant at) {
        List<String> keys = List.of("journal", ATTEMPTS, "d:" + draw, "m:" + draw);
        byte[] chance = MessagePack.numbers(new long[20]);
        return call(
                0,
                "play",
                keys,
                1_000,
                at.toEpochMilli(),
                draw,
                0,
                1,
                request,
                attempt,
                user,
                plays,
                isPaid ? 1 : 0,
                chance);
    }

    /** Gives the held cost of a request back, of a draw of shard 0. @return how many were given back */
    public String giveBack(DrawId draw, UUID request, UUID attempt, String user) {
        return call(0, "return", List.of("journal", ATTEMPTS), 1_000, -1, draw, request, attempt, user);
    }

    private static byte[] bytes(Object value) {
        return value instanceof byte[] raw ? raw : String.valueOf(value).getBytes(StandardCharsets.UTF_8);
    }
}
