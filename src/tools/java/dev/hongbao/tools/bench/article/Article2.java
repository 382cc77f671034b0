package dev.hongbao.tools.bench.article;

import dev.hongbao.store.Stores.StoreAddresses;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Transaction;

/**
 * Article 2 (确定性抽奖, a deterministic draw, 2015): a table has the exact count of each prize. A play watches it, draws one of the
 * remaining prizes, and takes it in MULTI … EXEC. If another play was faster, it tries again, a bounded number of times. The
 * record of the winner follows.
 *
 * <p>Traps: all plays watch the same table, so all but one start over, and the table refuses a play after too many tries. Between
 * EXEC and the record a prize has no owner. A play has no key, so a retry draws again.
 */
public final class Article2 extends Strategy {
    private static final int TRIES = 100;

    /** Of a hundred; the fourth prize has the rest. */
    private static final int[] PERCENT = {1, 9, 30};

    private final String table = key("table");

    public Article2(StoreAddresses stores) {
        super(stores, 2, "WATCH, MULTI, EXEC", 3);
    }

    private static long worth(String prize) {
        return 1000L / Integer.parseInt(prize);
    }

    @Override
    Supply fill(int shares) {
        Map<String, Long> counts = new HashMap<>();
        long rest = shares;
        for (int i = 0; i < PERCENT.length; i++) {
            long count = (long) shares * PERCENT[i] / 100;
            counts.put(Integer.toString(i + 1), count);
            rest -= count;
        }
        counts.put(Integer.toString(PERCENT.length + 1), rest);
        return inRedis(jedis -> {
            counts.forEach((prize, count) -> jedis.hset(table, prize, Long.toString(count)));
            return new Supply(
                    counts.entrySet().stream()
                            .mapToLong(prize -> prize.getValue() * worth(prize.getKey()))
                            .sum(),
                    counts);
        });
    }

    @Override
    boolean claim(Client client, int user, Fault fault) throws Exception {
        Jedis jedis = client.redis();
        for (int i = 0; i < TRIES; i++) {
            jedis.watch(table);
            String prize = draw(jedis.hgetAll(table));
            if (i == 0) {
                fault.after("read");
            }
            if (prize == null) {
                jedis.unwatch();
                return false;
            }
            if (take(jedis, prize)) {
                fault.after("taken");
                record(jedis, user, prize);
                fault.after("recorded");
                return true;
            }
        }
        return false;
    }

    private boolean take(Jedis jedis, String prize) {
        try (Transaction transaction = jedis.multi()) {
            transaction.hincrBy(table, prize, -1);
            return transaction.exec() != null;
        }
    }

    private static @Nullable String draw(Map<String, String> table) {
        long sum = table.values().stream().mapToLong(Long::parseLong).sum();
        if (sum <= 0) {
            return null;
        }
        long ticket = new SplittableRandom().nextLong(sum);
        for (Map.Entry<String, String> prize : table.entrySet()) {
            ticket -= Long.parseLong(prize.getValue());
            if (ticket < 0) {
                return prize.getKey();
            }
        }
        throw new IllegalStateException("the table's sum is wrong");
    }

    @Override
    Grant grant(int user, String prize) {
        return new Grant(user, prize, worth(prize));
    }

    @Override
    long left() {
        return inRedis(
                jedis -> jedis.hvals(table).stream().mapToLong(Long::parseLong).sum());
    }
}
