package dev.hongbao.server;

import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.redis.Script;
import dev.hongbao.web.access.RateLimits;
import dev.hongbao.web.access.RateUse;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Adds up over all servers what callers use of their rate limits: tells Redis ten times a second what was used here, and hears
 * what was used in all. No call waits for it. While Redis is away or slow, each server limits alone. Connects when there is
 * something to tell. One instance a server.
 *
 * <p>Keys, outside of the generations: {@code hongbao:<namespace>:rate:<limit>:<user>}; each ends when all of its use has come
 * back.
 */
final class RateExchange extends VerticleBase {
    private static final Logger LOG = LoggerFactory.getLogger(RateExchange.class);

    private static final long EVERY_MILLIS = 100;

    /** Callers told of at a time: at some 5 µs each Redis then spends 2 % of its time on it at the most. */
    private static final int MOST = 500;

    /** Part of a Redis Cluster may be away, and then some exchanges fail and others do not. */
    private static final long WARN_NANOS = Duration.ofMinutes(1).toNanos();

    /** Sent whole: it is short, and a Redis that does not know it needs no second question. */
    private static final String SCRIPT = Script.read("rate");

    private final RateLimits rates;
    private final String redisUrl;
    private final Duration timeout;
    private final String prefix;
    private @Nullable RedisLinks redis;
    private boolean isUnderWay;
    private long warnedNanos = System.nanoTime() - WARN_NANOS;

    /** @param namespace the installation's in Redis */
    RateExchange(RateLimits rates, String redisUrl, Duration timeout, String namespace) {
        this.rates = rates;
        this.redisUrl = redisUrl;
        this.timeout = timeout;
        this.prefix = "hongbao:" + namespace + ":rate:";
    }

    @Override
    public Future<?> start() {
        vertx.setPeriodic(EVERY_MILLIS, tick -> exchange());
        return Future.succeededFuture();
    }

    /** Drops what there is to tell when Redis does not answer. */
    private void exchange() {
        if (isUnderWay) {
            return;
        }
        List<RateUse> uses = rates.untold(MOST);
        if (uses.isEmpty()) {
            return;
        }
        isUnderWay = true;
        links().compose(links ->
                        Future.join(uses.stream().map(use -> tell(links, use)).toList()))
                .onComplete(told -> {
                    isUnderWay = false;
                    if (told.failed() && System.nanoTime() - warnedNanos >= WARN_NANOS) {
                        warnedNanos = System.nanoTime();
                        LOG.warn(
                                "Redis does not add up the use of rate limits, each server limits alone: {}",
                                told.cause().getMessage());
                    }
                });
    }

    private Future<RedisLinks> links() {
        RedisLinks open = redis;
        return open != null
                ? Future.succeededFuture(open)
                : RedisLinks.open(vertx, redisUrl, timeout, "rates").onSuccess(opened -> redis = opened);
    }

    private Future<?> tell(RedisLinks links, RateUse use) {
        String key = prefix + use.name();
        return links.linkFor(key)
                .send(Request.cmd(Command.EVAL)
                        .arg(SCRIPT)
                        .arg(1)
                        .arg(key)
                        .arg(use.millis())
                        .arg(use.mostMillis()))
                .onSuccess(used -> {
                    if (used != null) {
                        use.heard().accept(used.toLong());
                    }
                });
    }

    @Override
    public Future<?> stop() {
        RedisLinks open = redis;
        return open == null ? Future.succeededFuture() : open.close();
    }
}
