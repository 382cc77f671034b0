package dev.hongbao.tools.bench.article;

import dev.hongbao.store.Stores.StoreAddresses;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntToLongFunction;
import java.util.function.ObjIntConsumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;

/**
 * One article's design: many users at once get a share, or a prize. It keeps its keys under {@code article<n>:}. Blocking; each
 * thread of a crowd has a {@link Client}.
 */
public abstract class Strategy {
    /** The winners of articles 2, 4 and 5: a user and a share or an amount. */
    private final String winners;

    private final StoreAddresses stores;
    private final int number;
    private final String text;

    /** Of articles 1 and 3. */
    final ArticleTable table;

    final int steps;

    /** @param steps of a claim, after each of which its fault may happen */
    Strategy(StoreAddresses stores, int number, String text, int steps) {
        this.stores = stores;
        this.number = number;
        this.text = text;
        this.steps = steps;
        this.winners = key("winners");
        this.table = new ArticleTable("article" + number, stores.owner());
    }

    /** The article and its technique. */
    public String name() {
        return number + ": " + text;
    }

    final String key(String name) {
        return "article" + number + ":" + name;
    }

    final Jedis connect() {
        Jedis jedis = new Jedis(URI.create(stores.redisUrl()));
        jedis.ping();
        return jedis;
    }

    final <T> T inRedis(Function<Jedis, T> work) {
        try (Jedis jedis = connect()) {
            return work.apply(jedis);
        }
    }

    /** Offers shares in the empty stores, one for each user of a crowd. */
    abstract Supply fill(int shares) throws Exception;

    /** Offers shares named 0, 1, 2 …, for one user each. @param amount of a share by its number. @param offer puts one into Redis */
    final Supply fill(int shares, IntToLongFunction amount, ObjIntConsumer<Pipeline> offer) {
        return inRedis(jedis -> {
            Pipeline pipeline = jedis.pipelined();
            for (int i = 0; i < shares; i++) {
                offer.accept(pipeline, i);
            }
            pipeline.sync();
            return new Supply(
                    IntStream.range(0, shares).mapToLong(amount).sum(),
                    IntStream.range(0, shares).boxed().collect(Collectors.toMap(i -> Integer.toString(i), i -> 1L)));
        });
    }

    /** Connects, for one thread. */
    Client open() throws Exception {
        return new Client(connect(), null);
    }

    /** Makes one claim as the article does. @param fault may end it after each step. @return whether the user is told to have a share */
    abstract boolean claim(Client client, int user, Fault fault) throws Exception;

    /** Does the work that the article leaves to a later time. @param fates of each part of that work */
    void settle(Supplier<Fault> fates) throws Exception {}

    final void record(Jedis jedis, int user, Object what) {
        jedis.rpush(winners, user + " " + what);
    }

    /** The shares of all users in the end. */
    List<Grant> granted() throws Exception {
        return inRedis(jedis -> jedis.lrange(winners, 0, -1).stream()
                .map(winner -> winner.split(" ", -1))
                .map(words -> grant(Integer.parseInt(words[0]), words[1]))
                .toList());
    }

    /** Reads a {@link #record}. */
    Grant grant(int user, String what) {
        return new Grant(user, what, 1);
    }

    /** Shares that a user can still get. */
    abstract long left();

    /** Empties the stores. */
    final void clear() throws Exception {
        table.drop();
        inRedis(jedis -> {
            jedis.keys(key("*")).forEach(jedis::del);
            return null;
        });
    }

    /** The connections of one thread. @param sql without auto-commit; null if the design does not use it in a claim */
    record Client(Jedis redis, @Nullable Connection sql) implements AutoCloseable {
        /** Rolls back, as the end of a process does. */
        @Override
        public void close() throws SQLException {
            redis.close();
            if (sql != null) {
                sql.close();
            }
        }
    }

    /**
     * The offer.
     *
     * @param total minor units of all shares
     * @param holders allowed holders of each share, by its name
     */
    record Supply(long total, Map<String, Long> holders) {}

    /** A user's share. */
    record Grant(int user, String share, long amount) {}
}
