package dev.hongbao.tools.bench.article;

import dev.hongbao.store.Stores.StoreAddresses;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import redis.clients.jedis.Jedis;

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
    private final DelLock lock;

    /** @param lockExpiry of its lock, longer than any claim should take */
    public Article3(StoreAddresses stores, Duration lockExpiry) {
        super(stores, 3, "pop, lock, one transaction a claim", 6);
        this.lock = new DelLock(key("lock"), lockExpiry, lockExpiry.multipliedBy(Crowd.THREADS));
    }

    @Override
    Supply fill(int count) throws SQLException {
        table.create();
        return fill(count, Article3::amount, (redis, i) -> redis.rpush(shares, Integer.toString(i)));
    }

    private static long amount(int share) {
        return 1 + share % 100;
    }

    @Override
    Client open() throws SQLException {
        return new Client(connect(), table.connect());
    }

    @Override
    boolean claim(Client client, int user, Fault fault) throws Exception {
        Jedis jedis = client.redis();
        if (jedis.sismember(takers, Integer.toString(user))) {
            return true;
        }
        if (jedis.llen(shares) == 0) {
            return false;
        }
        fault.after("looked");
        String share = jedis.lpop(shares);
        if (share == null) {
            return false;
        }
        try {
            fault.after("popped");
            return open(client, new Grant(user, share, amount(Integer.parseInt(share))), fault);
        } catch (IOException | SQLException failed) {
            jedis.rpush(shares, share);
            throw failed;
        }
    }

    private boolean open(Client client, Grant grant, Fault fault) throws Exception {
        Jedis jedis = client.redis();
        Connection connection = Objects.requireNonNull(client.sql());
        if (!lock.take(jedis)) {
            jedis.rpush(shares, grant.share());
            return false;
        }
        try {
            fault.after("locked");
            table.insert(connection, grant);
            table.pay(connection, grant);
            fault.after("written");
        } finally {
            lock.free(jedis, fault);
        }
        connection.commit();
        fault.after("committed");
        jedis.sadd(takers, Integer.toString(grant.user()));
        fault.after("marked");
        return true;
    }

    @Override
    List<Grant> granted() throws SQLException {
        return table.grants();
    }

    @Override
    long left() {
        return inRedis(jedis -> jedis.llen(shares));
    }
}
