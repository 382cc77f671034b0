package dev.hongbao.tools.bench.article;

import dev.hongbao.store.postgres.PostgresAddress;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;

/**
 * Article 3 (「红包」的设计与实现, 2018): a claim looks whether the user has a share and any is left, and pops one. Under a
 * distributed lock, one transaction writes the record, the balance and the packet's count. A claim that fails puts its share back.
 *
 * <p>Traps: look and pop are two steps. A crash after the pop loses the share. A commit of unknown outcome puts the share back and
 * so grants it twice. The lock ends before the commit. No constraint stops a second claim.
 */
public final class Article3 extends Strategy {
    private final String shares = key("shares");
    private final String takers = key("takers");
    private final ArticleTable table;
    private final DelLock lock;

    /** @param lockExpiry of its lock, longer than any claim should take */
    public Article3(String redisUrl, PostgresAddress postgres, Duration lockExpiry) {
        super(redisUrl, 3, "pop, lock, one transaction a claim", 6);
        this.table = new ArticleTable("article3", postgres);
        this.lock = new DelLock(key("lock"), lockExpiry, lockExpiry.multipliedBy(Crowd.THREADS));
    }

    @Override
    Supply fill(int count) throws SQLException {
        table.create();
        return inRedis(jedis -> {
            Pipeline pipeline = jedis.pipelined();
            for (int i = 0; i < count; i++) {
                pipeline.rpush(shares, Integer.toString(i));
            }
            pipeline.sync();
            return Supply.ofOnes(count, Article3::amount);
        });
    }

    private static long amount(int share) {
        return 1 + share % 100;
    }

    @Override
    Client open() throws SQLException {
        return new Client(connect(), table.connect());
    }

    @Override
    Told claim(Client client, int user, Fault fault) throws Exception {
        Jedis jedis = client.redis();
        if (jedis.sismember(takers, Integer.toString(user))) {
            return Told.WON;
        }
        if (jedis.llen(shares) == 0) {
            return Told.NOTHING;
        }
        fault.after("looked");
        String share = jedis.lpop(shares);
        if (share == null) {
            return Told.NOTHING;
        }
        try {
            fault.after("popped");
            return open(client, new Grant(user, share, amount(Integer.parseInt(share))), fault);
        } catch (IOException | SQLException failed) {
            jedis.rpush(shares, share);
            throw failed;
        }
    }

    private Told open(Client client, Grant grant, Fault fault) throws Exception {
        Jedis jedis = client.redis();
        Connection connection = Objects.requireNonNull(client.sql());
        if (!lock.take(jedis)) {
            jedis.rpush(shares, grant.share());
            return Told.NOTHING;
        }
        try {
            fault.after("locked");
            table.insert(connection, grant);
            table.pay(connection, grant);
            fault.after("written");
        } finally {
            if (!fault.isDead()) {
                lock.free(jedis);
            }
        }
        connection.commit();
        fault.after("committed");
        jedis.sadd(takers, Integer.toString(grant.user()));
        fault.after("marked");
        return Told.WON;
    }

    @Override
    List<Grant> granted() throws SQLException {
        return table.grants();
    }

    @Override
    long left() {
        return inRedis(jedis -> jedis.llen(shares));
    }

    @Override
    void clear() throws Exception {
        table.drop();
        super.clear();
    }
}
