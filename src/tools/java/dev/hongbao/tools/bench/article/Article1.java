package dev.hongbao.tools.bench.article;

import dev.hongbao.engine.postgres.PostgresAddress;
import dev.hongbao.engine.redis.Script;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;

/**
 * Article 1 (抢红包, Redis + Lua, 2017): shares are split beforehand into a list; one script, by EVAL, looks whether the user
 * has one, pops, marks and pushes, with cjson; a single writer takes the claimed ones to the database in batches. The baseline of
 * all ratios is this without the writer.
 *
 * <p>Traps: nil for "sold out" and for "has one", so a winner who asks again is told there is nothing; the user is a KEY; the
 * batch is popped before the database commits, so that a crash loses it.
 */
public final class Article1 implements Strategy {
    private static final String SHARES = "article1:hongBaoList";
    private static final String CLAIMED = "article1:hongBaoConsumedList";
    private static final String USERS = "article1:hongBaoConsumedMap";
    private static final int BATCH = 100;

    private final URI redis;
    private final ArticleTable table;
    private final String script = Script.read("bench/article1");

    public Article1(String redisUrl, PostgresAddress postgres) {
        this.redis = URI.create(redisUrl);
        this.table = new ArticleTable("article1", postgres);
    }

    @Override
    public String name() {
        return "1: EVAL, cjson";
    }

    @Override
    public int steps() {
        return 1;
    }

    @Override
    public Supply fill(int shares) throws SQLException {
        table.clear();
        try (Jedis jedis = new Jedis(redis)) {
            jedis.del(SHARES, CLAIMED, USERS);
            Pipeline pipeline = jedis.pipelined();
            for (int i = 0; i < shares; i++) {
                pipeline.lpush(
                        SHARES,
                        new JsonObject().put("id", i).put("money", money(i)).encode());
            }
            pipeline.sync();
        }
        return Supply.ofOnes(shares, Article1::money);
    }

    private static long money(int share) {
        return 1 + share % 100;
    }

    @Override
    public Client open() {
        Jedis jedis = new Jedis(redis);
        jedis.ping();
        return new Client() {
            @Override
            public Told claim(int user, Fault fault) throws Exception {
                Object share = jedis.eval(script, 4, SHARES, CLAIMED, USERS, Integer.toString(user));
                fault.after("eval");
                return share == null ? Told.NOTHING : Told.WON;
            }

            @Override
            public void close() {
                jedis.close();
            }
        };
    }

    /** The writer; when it dies, it is started again. */
    @Override
    public void settle(Supplier<Fault> fates) throws Exception {
        boolean more = true;
        while (more) {
            try (Jedis jedis = new Jedis(redis);
                    Connection connection = table.connect()) {
                more = write(jedis, connection, fates.get());
            } catch (Fault.DiedException | Fault.NoAnswerException gone) {
                more = true;
            }
        }
    }

    private boolean write(Jedis jedis, Connection connection, Fault fault) throws Exception {
        List<String> batch = jedis.rpop(CLAIMED, BATCH);
        if (batch == null) {
            return false;
        }
        fault.after("popped");
        try (PreparedStatement insert = table.insert(connection)) {
            for (String claimed : batch) {
                ArticleTable.set(insert, grant(claimed));
                insert.addBatch();
            }
            insert.executeBatch();
        }
        connection.commit();
        fault.after("committed");
        return true;
    }

    private static Grant grant(String claimed) {
        JsonObject share = new JsonObject(claimed);
        return new Grant(
                Integer.parseInt(share.getString("userId")),
                Integer.toString(share.getInteger("id")),
                share.getLong("money"));
    }

    /** In the database, or on the way to it. */
    @Override
    public List<Grant> granted() throws SQLException {
        List<Grant> granted = new ArrayList<>(table.grants());
        try (Jedis jedis = new Jedis(redis)) {
            jedis.lrange(CLAIMED, 0, -1).forEach(claimed -> granted.add(grant(claimed)));
        }
        return granted;
    }

    @Override
    public long left() {
        try (Jedis jedis = new Jedis(redis)) {
            return jedis.llen(SHARES);
        }
    }

    @Override
    public void clear() throws SQLException {
        table.drop();
        try (Jedis jedis = new Jedis(redis)) {
            jedis.del(SHARES, CLAIMED, USERS);
        }
    }
}
