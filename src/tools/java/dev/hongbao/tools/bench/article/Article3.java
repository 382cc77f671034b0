package dev.hongbao.tools.bench.article;

import dev.hongbao.engine.postgres.PostgresAddress;
import java.io.IOException;
import java.net.URI;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;

/**
 * Article 3 (「红包」的设计与实现, 2018): look whether the user has one and any is left, pop a share, then under a distributed
 * lock one transaction a claim: the record, the balance, the packet's count. A claim that fails puts its share back.
 *
 * <p>Traps: looking and popping are two steps; a crash after the pop loses the share; putting back after a commit of unknown
 * outcome gives the share twice; the lock is released before the commit; no constraint stops a second claim.
 */
public final class Article3 implements Strategy {
    private static final String SHARES = "article3:shares";
    private static final String TAKERS = "article3:takers";

    private final URI redis;
    private final ArticleTable table;
    private final DelLock lock;

    /** @param lockExpiry of its lock, longer than any claim should take */
    public Article3(String redisUrl, PostgresAddress postgres, Duration lockExpiry) {
        this.redis = URI.create(redisUrl);
        this.table = new ArticleTable("article3", postgres);
        this.lock = new DelLock("article3:lock", lockExpiry, lockExpiry.multipliedBy(Crowd.THREADS));
    }

    @Override
    public String name() {
        return "3: pop, lock, one transaction a claim";
    }

    @Override
    public int steps() {
        return 6;
    }

    @Override
    public Supply fill(int shares) throws SQLException {
        table.clear();
        try (Jedis jedis = new Jedis(redis)) {
            jedis.del(SHARES, TAKERS, lock.key());
            Pipeline pipeline = jedis.pipelined();
            for (int i = 0; i < shares; i++) {
                pipeline.rpush(SHARES, Integer.toString(i));
            }
            pipeline.sync();
        }
        return Supply.ofOnes(shares, Article3::amount);
    }

    private static long amount(int share) {
        return 1 + share % 100;
    }

    @Override
    public Client open() throws SQLException {
        Jedis jedis = new Jedis(redis);
        jedis.ping();
        return new Claimer(jedis, table.connect());
    }

    private final class Claimer implements Client {
        private final Jedis jedis;
        private final Connection connection;

        Claimer(Jedis jedis, Connection connection) {
            this.jedis = jedis;
            this.connection = connection;
        }

        @Override
        public Told claim(int user, Fault fault) throws Exception {
            if (jedis.sismember(TAKERS, Integer.toString(user))) {
                return Told.WON;
            }
            if (jedis.llen(SHARES) == 0) {
                return Told.NOTHING;
            }
            fault.after("looked");
            String share = jedis.lpop(SHARES);
            if (share == null) {
                return Told.NOTHING;
            }
            try {
                fault.after("popped");
                return open(new Grant(user, share, amount(Integer.parseInt(share))), fault);
            } catch (IOException | SQLException failed) {
                jedis.rpush(SHARES, share);
                throw failed;
            }
        }

        private Told open(Grant grant, Fault fault) throws Exception {
            if (!lock.take(jedis)) {
                jedis.rpush(SHARES, grant.share());
                return Told.NOTHING;
            }
            try {
                fault.after("locked");
                write(grant);
                fault.after("written");
            } finally {
                if (!fault.isDead()) {
                    lock.free(jedis);
                }
            }
            connection.commit();
            fault.after("committed");
            jedis.sadd(TAKERS, Integer.toString(grant.user()));
            fault.after("marked");
            return Told.WON;
        }

        private void write(Grant grant) throws SQLException {
            try (PreparedStatement insert = table.insert(connection);
                    PreparedStatement pay = table.pay(connection);
                    PreparedStatement count = table.count(connection)) {
                ArticleTable.set(insert, grant);
                insert.executeUpdate();
                pay.setInt(1, grant.user());
                pay.setLong(2, grant.amount());
                pay.executeUpdate();
                count.executeUpdate();
            }
        }

        /** What is not committed is rolled back, as when the process ends. */
        @Override
        public void close() throws SQLException {
            jedis.close();
            connection.close();
        }
    }

    @Override
    public List<Grant> granted() throws SQLException {
        return table.grants();
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
            jedis.del(SHARES, TAKERS, lock.key());
        }
    }
}
