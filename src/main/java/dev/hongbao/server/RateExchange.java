package dev.hongbao.server;

import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.redis.Script;
import dev.hongbao.web.access.RateLimits;
import dev.hongbao.web.access.RateUse;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.List;
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

    private static final Script SCRIPT = Script.of(Script.read("rate"));

    private final RateLimits rates;
    private final RedisExchange redis;
    private final String prefix;

    /** @param namespace the installation's in Redis */
    RateExchange(Vertx vertx, RateLimits rates, String redisUrl, Duration timeout, String namespace) {
        this.rates = rates;
        this.redis = new RedisExchange(
                vertx,
                redisUrl,
                timeout,
                new RedisExchange.Name(
                        "rates", LOG, "Redis does not add up the use of rate limits, each server limits alone"));
        this.prefix = "hongbao:" + namespace + ":rate:";
    }

    @Override
    public Future<?> start() {
        vertx.setPeriodic(EVERY_MILLIS, tick -> exchange());
        return Future.succeededFuture();
    }

    /** Drops what there is to tell when Redis does not answer. */
    private void exchange() {
        if (redis.isUnderWay()) {
            return;
        }
        List<RateUse> uses = rates.untold(MOST);
        if (!uses.isEmpty()) {
            var unused = redis.run(links ->
                    Future.join(uses.stream().map(use -> tell(links, use)).toList()));
        }
    }

    private Future<?> tell(RedisLinks links, RateUse use) {
        String key = prefix + use.name();
        Request call = Request.cmd(Command.EVALSHA)
                .arg(SCRIPT.sha())
                .arg(1)
                .arg(key)
                .arg(use.millis())
                .arg(use.mostMillis());
        return RedisExchange.call(links.linkFor(key), SCRIPT, call).onSuccess(used -> {
            if (used != null) {
                use.heard().accept(used.toLong());
            }
        });
    }

    @Override
    public Future<?> stop() {
        return redis.close();
    }
}
