package dev.hongbao.tools.bench.article;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import redis.clients.jedis.Jedis;

/**
 * Article 5 (C#, 抢红包功能的分布式情况下处理多并发, 2018): a counter lets in as many users as there are tries; under a lock each
 * draws its amount from what remains, and the last one takes all of it. The record follows.
 *
 * <p>Traps: who is last is decided at the counter, but the amounts in the order of the lock, so that "the last" may take all
 * while others wait; a try whose client dies is gone; an amount computed from what remained before somebody else was faster pays
 * too much; DECR makes a lost key anew at -1; a claim made again takes another try.
 */
public final class Article5 implements Strategy {
    private static final String TRIES = "article5:tries";
    private static final String REMAINING = "article5:remaining";
    private static final WinnersList WINNERS = new WinnersList("article5:winners");
    private static final long MEAN = 100;

    private final URI redis;
    private final DelLock lock;

    /** @param lockExpiry of its lock, longer than any claim should take */
    public Article5(String redisUrl, Duration lockExpiry) {
        this.redis = URI.create(redisUrl);
        this.lock = new DelLock("article5:lock", lockExpiry, lockExpiry.multipliedBy(Crowd.THREADS));
    }

    @Override
    public String name() {
        return "5: counter, lock, from what remains";
    }

    @Override
    public int steps() {
        return 5;
    }

    @Override
    public Supply fill(int shares) {
        try (Jedis jedis = new Jedis(redis)) {
            jedis.del(WINNERS.key(), lock.key());
            jedis.set(TRIES, Integer.toString(shares));
            jedis.set(REMAINING, Long.toString(shares * MEAN));
        }
        return new Supply(shares * MEAN, Map.of("", (long) shares));
    }

    @Override
    public Client open() {
        return new Claimer(new Jedis(redis));
    }

    private final class Claimer implements Client {
        private final Jedis jedis;
        private final SplittableRandom chance = new SplittableRandom();

        Claimer(Jedis jedis) {
            this.jedis = jedis;
            jedis.ping();
        }

        @Override
        public Told claim(int user, Fault fault) throws Exception {
            long behind = jedis.decr(TRIES);
            if (behind < 0) {
                return Told.NOTHING;
            }
            fault.after("admitted");
            if (!lock.take(jedis)) {
                return Told.NOTHING;
            }
            long amount;
            try {
                fault.after("locked");
                amount = take(behind, fault);
            } finally {
                if (!fault.isDead()) {
                    lock.free(jedis);
                }
            }
            if (amount == 0) {
                return Told.NOTHING;
            }
            WINNERS.add(jedis, user, amount);
            fault.after("recorded");
            return Told.WON;
        }

        private long take(long behind, Fault fault) throws Exception {
            long remaining = Long.parseLong(jedis.get(REMAINING));
            fault.after("read");
            long amount = remaining;
            if (behind > 0 && remaining > 0) {
                long most = Math.max(1, Math.min(remaining, 2 * remaining / (behind + 1)));
                amount = 1 + chance.nextLong(most);
                amount = Math.min(amount, remaining);
            }
            jedis.set(REMAINING, Long.toString(remaining - amount));
            fault.after("taken");
            return amount;
        }

        @Override
        public void close() {
            jedis.close();
        }
    }

    @Override
    public List<Grant> granted() {
        return WINNERS.read(redis, (user, amount) -> new Grant(user, "", Long.parseLong(amount)));
    }

    @Override
    public long left() {
        try (Jedis jedis = new Jedis(redis)) {
            return Math.max(0, Long.parseLong(jedis.get(TRIES)));
        }
    }

    @Override
    public void clear() {
        try (Jedis jedis = new Jedis(redis)) {
            jedis.del(TRIES, REMAINING, WINNERS.key(), lock.key());
        }
    }
}
