package dev.hongbao.domain.claim;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Reason;
import dev.hongbao.common.values.TooManyCallsException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.engine.redis.RedisFault;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * How many wrong passcodes a packet has had, from all users on all servers: the limit on one user's guesses is nothing to a
 * crowd of them. Beyond the packet's limit each user keeps one guess a minute, so that a guesser cannot lock a group out.
 *
 * <p>The count is kept in Redis, outside of the generations, for an hour from the first wrong guess. Below half of the limit a server reuses
 * a count for one second, so that a crowd with the right passcode does not ask Redis each time. From there on every guess asks. While Redis
 * is away a server counts alone. Thread-safe.
 *
 * <p>Keys: {@code hongbao:<namespace>:wrong-passcodes:<packet>}, the count; the same with {@code :<user>}, there while the
 * user has to wait.
 */
public final class PasscodeGuesses {
    /** How long wrong guesses count. */
    static final Duration WINDOW = Duration.ofHours(1);

    /** How long a user waits between two guesses on a packet that is beyond its limit. */
    static final Duration WAIT = Duration.ofMinutes(1);

    private static final long FRESH_NANOS = Duration.ofSeconds(1).toNanos();
    private static final int MAX_TRACKED = 100_000;

    private final String prefix;
    private final int limit;
    private final LongSupplier nanoTime;
    private final LoadingCache<PacketId, Tries> tries;
    private final Cache<Guesser, Boolean> waiting;

    private record Guesser(PacketId packet, UserId user) {}

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

    /** What this server knows of a packet's count. */
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

        /** Redis does not tell: what was heard last counts on. */
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
     * Makes a guess. Beyond the limit a right one is not told either: who is told only that he was right has still learned it.
     *
     * @param redis the links of the caller's event loop
     * @param wrong whether it is, and so is counted if it is admitted
     * @return fails with {@link TooManyCallsException} when it may not be looked at, and with nothing else
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
        if (waiting.asMap().putIfAbsent(new Guesser(packet, user), true) != null) {
            return Future.succeededFuture(false);
        }
        String key = prefix + packet + ":" + user.value();
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
                    if (RedisFault.is(fault, RedisFault.Kind.ERROR)) { // no count: the next one begins anew
                        link.send(Request.cmd(Command.UNLINK).arg(prefix + packet));
                    }
                });
        // NX: the hour runs from the first; and a count whose first server died in between gets it from the next.
        link.send(Request.cmd(Command.EXPIRE)
                .arg(prefix + packet)
                .arg(WINDOW.toSeconds())
                .arg("NX"));
    }
}
