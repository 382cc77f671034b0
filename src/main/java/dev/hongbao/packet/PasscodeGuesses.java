package dev.hongbao.packet;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.hongbao.store.redis.RedisFault;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Reason;
import dev.hongbao.values.Text;
import dev.hongbao.values.TooManyCallsException;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Counts the wrong passcodes of a packet, over all users and servers. A limit per user alone would not stop a crowd. Beyond the packet's
 * limit each user keeps one guess a minute, so a guesser cannot lock a group out.
 *
 * <p>Redis keeps the count outside of the generations, for an hour from the first wrong guess. Below half of the limit a server reuses a
 * count for one second, so a crowd with the right passcode makes few calls. Above it, every guess reads Redis. Without Redis, a server
 * counts alone. Thread-safe.
 *
 * <p>Keys: {@code hongbao:<namespace>:wrong-passcodes:<packet>}, the count; and the same key with {@code :<user>} added, present while the
 * user has to wait.
 */
final class PasscodeGuesses {
    /** The lifetime of a count. */
    static final Duration WINDOW = Duration.ofHours(1);

    /** A user's wait between two guesses on a packet beyond its limit. */
    static final Duration WAIT = Duration.ofMinutes(1);

    private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();
    private static final int MAX_TRACKED = 100_000;

    private final String prefix;
    private final int limit;
    private final LongSupplier nanoTime;
    private final LoadingCache<PacketId, Tries> tries;
    private final Cache<Claim.Key, Boolean> waiting;

    /**
     * @param namespace the installation's in Redis
     * @param limit wrong passcodes of a packet in an hour; 0 = none
     * @param nanoTime a monotonic clock, nanoseconds: {@code System::nanoTime}
     */
    public PasscodeGuesses(String namespace, int limit, LongSupplier nanoTime) {
        this.prefix = "hongbao:" + namespace + ":wrong-passcodes:";
        this.limit = limit;
        this.nanoTime = nanoTime;
        this.tries = Caffeine.newBuilder()
                .maximumSize(MAX_TRACKED)
                .executor(Runnable::run)
                .build(packet -> new Tries());
        this.waiting = Caffeine.newBuilder()
                .maximumSize(MAX_TRACKED)
                .expireAfterWrite(WAIT)
                .ticker(nanoTime::getAsLong)
                .executor(Runnable::run)
                .build();
    }

    /** This server's knowledge of a packet's count. */
    private static final class Tries {
        private long heard;
        private long heardNanos;
        private boolean asked;
        private int onTheirWay;
        private int lost;
        private long lostNanos;

        private synchronized boolean isFarFrom(int limit, long now) {
            return asked && now - heardNanos < FRESH_NANOS && count(now) < limit / 2;
        }

        private synchronized void hear(long count, long now) {
            heard = count;
            asked = true;
            heardNanos = now;
        }

        /** Redis gave no answer. The last count stays valid. */
        private synchronized void hearNothing(long now) {
            asked = true;
            heardNanos = now;
        }

        private synchronized void send() {
            onTheirWay++;
        }

        private synchronized void arrive() {
            onTheirWay--;
        }

        private synchronized void lose(long now) {
            onTheirWay--;
            lost++;
            lostNanos = now;
        }

        private synchronized long count(long now) {
            if (lost > 0 && now - lostNanos > WINDOW.toNanos()) {
                lost = 0;
                heard = 0;
            }
            return heard + onTheirWay + lost;
        }
    }

    /**
     * Makes a guess. Beyond the limit the refusal is the same for a right passcode, which would otherwise be revealed.
     *
     * @param redis the links of the caller's event loop
     * @param wrong counts the guess if it is admitted
     * @return fails with {@link TooManyCallsException} when the guess is not admitted, and with nothing else
     */
    Future<Void> guess(RedisLinks redis, PacketId packet, UserId user, boolean wrong) {
        return admits(redis, packet, user).compose(admitted -> {
            if (!admitted) {
                return Future.failedFuture(new TooManyCallsException(
                        Reason.PASSCODES, Text.of("passcode.too-many"), (int) WAIT.toSeconds()));
            }
            if (wrong) {
                wrong(redis, packet);
            }
            return Future.succeededFuture();
        });
    }

    /** Gives an admitted guess back: the passcode was right, and the claim could not be decided. */
    void giveBack(RedisLinks redis, PacketId packet, UserId user) {
        if (waiting.asMap().remove(new Claim.Key(packet, user)) != null) {
            String key = waitKey(packet, user);
            redis.linkFor(key).send(Request.cmd(Command.UNLINK).arg(key));
        }
    }

    private String waitKey(PacketId packet, UserId user) {
        return prefix + packet + ":" + user.value();
    }

    /** Never fails. */
    private Future<Boolean> admits(RedisLinks redis, PacketId packet, UserId user) {
        if (limit == 0) {
            return Future.succeededFuture(true);
        }
        Tries of = tries.get(packet);
        if (of.isFarFrom(limit, nanoTime.getAsLong())) {
            return admits(redis, of, packet, user);
        }
        return redis.linkFor(prefix + packet)
                .send(Request.cmd(Command.GET).arg(prefix + packet))
                .map(count -> count == null ? 0 : count.toLong())
                .onSuccess(count -> of.hear(count, nanoTime.getAsLong()))
                .onFailure(away -> of.hearNothing(nanoTime.getAsLong()))
                .<Void>mapEmpty()
                .otherwiseEmpty()
                .compose(heard -> admits(redis, of, packet, user));
    }

    private Future<Boolean> admits(RedisLinks redis, Tries of, PacketId packet, UserId user) {
        if (of.count(nanoTime.getAsLong()) < limit) {
            return Future.succeededFuture(true);
        }
        if (waiting.asMap().putIfAbsent(new Claim.Key(packet, user), true) != null) {
            return Future.succeededFuture(false);
        }
        String key = waitKey(packet, user);
        return redis.linkFor(key)
                .send(Request.cmd(Command.SET)
                        .arg(key)
                        .arg(1)
                        .arg("EX")
                        .arg(WAIT.toSeconds())
                        .arg("NX"))
                .map(set -> set != null)
                .otherwise(true);
    }

    private void wrong(RedisLinks redis, PacketId packet) {
        if (limit == 0) {
            return;
        }
        Tries of = tries.get(packet);
        of.send();
        RedisLink link = redis.linkFor(prefix + packet);
        link.send(Request.cmd(Command.INCR).arg(prefix + packet))
                .onSuccess(count -> {
                    of.arrive();
                    if (count != null) {
                        of.hear(count.toLong(), nanoTime.getAsLong());
                    }
                })
                .onFailure(fault -> {
                    of.lose(nanoTime.getAsLong());
                    if (RedisFault.is(fault, RedisFault.Kind.ERROR)) { // no number: the next guess starts anew
                        link.send(Request.cmd(Command.UNLINK).arg(prefix + packet));
                    }
                });
        // NX: the hour runs from the first guess. If its server died before this call, the next guess sets the hour.
        link.send(Request.cmd(Command.EXPIRE)
                .arg(prefix + packet)
                .arg(WINDOW.toSeconds())
                .arg("NX"));
    }
}
