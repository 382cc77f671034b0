package dev.hongbao.tools.bench.article;

import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Transaction;

/**
 * Article 2 (确定性抽奖, a deterministic draw, 2015): a table with the exact count of each prize; a play watches it, draws one of
 * what remains, and takes it in MULTI … EXEC; when another play was faster, it tries again, a bounded number of times. The
 * winner is written down afterwards.
 *
 * <p>Traps: everyone watches the same table, so that all but one start over; who starts over too often is sent away; between
 * EXEC and the record a prize belongs to nobody; a play has no name, so that one made again draws again.
 */
public final class Article2 implements Strategy {
    private static final String TABLE = "article2:table";
    private static final WinnersList WINNERS = new WinnersList("article2:winners");
    private static final int TRIES = 100;

    /** Of a hundred; the fourth has the rest. */
    private static final int[] PERCENT = {1, 9, 30};

    private final URI redis;

    public Article2(String redisUrl) {
        this.redis = URI.create(redisUrl);
    }

    @Override
    public String name() {
        return "2: WATCH, MULTI, EXEC";
    }

    @Override
    public int steps() {
        return 3;
    }

    private static long worth(String prize) {
        return 1000L / Integer.parseInt(prize);
    }

    @Override
    public Supply fill(int shares) {
        Map<String, Long> counts = new HashMap<>();
        long rest = shares;
        for (int i = 0; i < PERCENT.length; i++) {
            long count = (long) shares * PERCENT[i] / 100;
            counts.put(Integer.toString(i + 1), count);
            rest -= count;
        }
        counts.put(Integer.toString(PERCENT.length + 1), rest);
        long total = 0;
        try (Jedis jedis = new Jedis(redis)) {
            jedis.del(TABLE, WINNERS.key());
            for (Map.Entry<String, Long> prize : counts.entrySet()) {
                jedis.hset(TABLE, prize.getKey(), Long.toString(prize.getValue()));
                total += prize.getValue() * worth(prize.getKey());
            }
        }
        return new Supply(total, counts);
    }

    @Override
    public Client open() {
        return new Player(new Jedis(redis));
    }

    private static final class Player implements Client {
        private final Jedis jedis;
        private final SplittableRandom chance = new SplittableRandom();

        Player(Jedis jedis) {
            this.jedis = jedis;
            jedis.ping();
        }

        @Override
        public Told claim(int user, Fault fault) throws Exception {
            for (int i = 0; i < TRIES; i++) {
                jedis.watch(TABLE);
                String prize = draw(jedis.hgetAll(TABLE));
                if (i == 0) {
                    fault.after("read");
                }
                if (prize == null) {
                    jedis.unwatch();
                    return Told.NOTHING;
                }
                if (take(prize)) {
                    fault.after("taken");
                    WINNERS.add(jedis, user, prize);
                    fault.after("recorded");
                    return Told.WON;
                }
            }
            return Told.NOTHING;
        }

        private boolean take(String prize) {
            try (Transaction transaction = jedis.multi()) {
                transaction.hincrBy(TABLE, prize, -1);
                return transaction.exec() != null;
            }
        }

        private @Nullable String draw(Map<String, String> table) {
            long sum = table.values().stream().mapToLong(Long::parseLong).sum();
            if (sum <= 0) {
                return null;
            }
            long ticket = chance.nextLong(sum);
            for (Map.Entry<String, String> prize : table.entrySet()) {
                ticket -= Long.parseLong(prize.getValue());
                if (ticket < 0) {
                    return prize.getKey();
                }
            }
            throw new IllegalStateException("the table's sum is wrong");
        }

        @Override
        public void close() {
            jedis.close();
        }
    }

    @Override
    public List<Grant> granted() {
        return WINNERS.read(redis, (user, prize) -> new Grant(user, prize, worth(prize)));
    }

    @Override
    public long left() {
        try (Jedis jedis = new Jedis(redis)) {
            return jedis.hvals(TABLE).stream().mapToLong(Long::parseLong).sum();
        }
    }

    @Override
    public void clear() {
        try (Jedis jedis = new Jedis(redis)) {
            jedis.del(TABLE, WINNERS.key());
        }
    }
}
