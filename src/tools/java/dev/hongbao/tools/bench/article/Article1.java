package dev.hongbao.tools.bench.article;

import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.redis.Script;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import redis.clients.jedis.Jedis;

/**
 * Article 1 (抢红包, Redis + Lua, 2017): a list has the shares, split beforehand. One script, by EVAL, looks whether the user has
 * one, pops, marks and pushes, with cjson. A single writer stores the claims in batches. The baseline of all ratios is this
 * without the writer.
 *
 * <p>Traps: nil means "sold out" and "has one", so a winner who asks again gets nothing. The user is a KEY. The writer pops a
 * batch before the commit, so a crash loses it.
 */
public final class Article1 extends Strategy {
    private static final int BATCH = 100;

    private final String shares = key("hongBaoList");
    private final String claimed = key("hongBaoConsumedList");
    private final String users = key("hongBaoConsumedMap");
    private final String script = Script.read("bench/article1");

    public Article1(StoreAddresses stores) {
        super(stores, 1, "EVAL, cjson", 1);
    }

    @Override
    Supply fill(int count) throws SQLException {
        table.create();
        return fill(count, Article1::money, (redis, i) -> {
            JsonObject share = new JsonObject().put("id", i).put("money", money(i));
            redis.lpush(shares, share.encode());
        });
    }

    private static long money(int share) {
        return 1 + share % 100;
    }

    @Override
    boolean claim(Client client, int user, Fault fault) throws Exception {
        Jedis jedis = client.redis();
        Object share = jedis.eval(script, 4, shares, claimed, users, Integer.toString(user));
        fault.after("eval");
        return share != null;
    }

    /** The writer. When it dies, it starts again. */
    @Override
    void settle(Supplier<Fault> fates) throws Exception {
        boolean more = true;
        while (more) {
            try (Jedis jedis = connect();
                    Connection connection = table.connect()) {
                more = write(jedis, connection, fates.get());
            } catch (Fault.DiedException | Fault.NoAnswerException gone) {
                more = true;
            }
        }
    }

    private boolean write(Jedis jedis, Connection connection, Fault fault) throws Exception {
        List<String> batch = jedis.rpop(claimed, BATCH);
        if (batch == null) {
            return false;
        }
        fault.after("popped");
        for (String each : batch) {
            table.insert(connection, grant(each));
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
    List<Grant> granted() throws SQLException {
        List<Grant> granted = new ArrayList<>(table.grants());
        granted.addAll(inRedis(jedis ->
                jedis.lrange(claimed, 0, -1).stream().map(Article1::grant).toList()));
        return granted;
    }

    @Override
    long left() {
        return inRedis(jedis -> jedis.llen(shares));
    }
}
