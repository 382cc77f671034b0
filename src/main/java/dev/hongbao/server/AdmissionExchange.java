package dev.hongbao.server;

import dev.hongbao.engine.admission.AdmissionControl;
import dev.hongbao.engine.admission.Flow;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.redis.Script;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ten times a second makes the terms on which claims and plays are let in, and tells Redis what came to this server and what of it
 * was settled; a little later hears the same of the others. No claim waits for it. While Redis is away or slow, each server goes by
 * what it sees itself. Tells next to nothing while nothing comes. One instance a server.
 *
 * <p>The key, outside of the generations: {@code hongbao:<namespace>:admission}; it ends when no server tells anything.
 */
final class AdmissionExchange extends VerticleBase {
    private static final Logger LOG = LoggerFactory.getLogger(AdmissionExchange.class);

    private static final long EVERY_MILLIS = AdmissionControl.TICK.toMillis();

    /** From a measure to the terms that are made of it: the others, a few milliseconds later, have told theirs by then. */
    private static final long HEARD_MILLIS = 30;

    /** Sent whole: it is short, and a Redis that does not know it needs no second question. */
    private static final Script SCRIPT = Script.of(Script.read("admission"));

    private static final Pattern SHARD =
            Pattern.compile("(?:^|,)(\\d{1,9}):(\\d+):(\\d+):(\\d+):(\\d+):(\\d+):(\\d+)(?=,|$)");

    /** Who has nothing to tell does so every minute all the same, and looks at Redis' clock. */
    private static final int ALIGNED_TICKS = 600;

    private final AdmissionControl control;
    private final RedisExchange redis;
    private final String key;
    private final String name = UUID.randomUUID().toString();
    private long timer;
    private long dueNanos;
    private long ticks;
    private boolean undecided;

    /** @param namespace the installation's in Redis */
    AdmissionExchange(Vertx vertx, AdmissionControl control, String redisUrl, Duration timeout, String namespace) {
        this.control = control;
        this.redis = new RedisExchange(
                vertx,
                redisUrl,
                timeout,
                new RedisExchange.Name(
                        "admission",
                        LOG,
                        "Redis does not add up what comes to the servers, each lets claims and plays in alone"));
        this.key = "hongbao:" + namespace + ":admission";
    }

    @Override
    public Future<?> start() {
        dueNanos = System.nanoTime();
        tick();
        return Future.succeededFuture();
    }

    /** Tells what was measured, and a little later hears what all servers have measured at the same time. */
    private void tick() {
        long now = System.nanoTime();
        tickAgainAt(Math.max(dueNanos + EVERY_MILLIS * 1_000_000, now + EVERY_MILLIS * 500_000));
        decide(); // of the tick before, if Redis was too slow for it
        String line = line(control.measure());
        undecided = true;
        if (line.isEmpty() && ticks++ % ALIGNED_TICKS != 0) {
            decide();
            return;
        }
        exchange(line).onSuccess(this::align);
        vertx.setTimer(HEARD_MILLIS, later -> exchange(line).onComplete(heard -> decide()));
    }

    private void decide() {
        if (undecided) {
            undecided = false;
            control.decide();
        }
    }

    /**
     * All servers measure when Redis' clock comes to a full tenth of a second, so that they make their terms of the same numbers, and
     * nobody lets claims in on old terms for longer than the others.
     *
     * @param redisMillis Redis' clock
     */
    private void align(long redisMillis) {
        if (redisMillis > 0 && vertx.cancelTimer(timer)) {
            long left = EVERY_MILLIS - redisMillis % EVERY_MILLIS;
            tickAgainAt(System.nanoTime() + (left < EVERY_MILLIS / 2 ? left + EVERY_MILLIS : left) * 1_000_000);
        }
    }

    /** By the moment and not by the time since the last tick: timers are a little late, and that would add up. */
    private void tickAgainAt(long nanos) {
        dueNanos = nanos;
        timer = vertx.setTimer(Math.max(1, (nanos - System.nanoTime()) / 1_000_000), next -> tick());
    }

    /** @return Redis' clock in milliseconds; 0 when an exchange is under way already */
    private Future<Long> exchange(String line) {
        return redis.isUnderWay() ? Future.succeededFuture(0L) : redis.run(links -> tell(links, line));
    }

    private Future<Long> tell(RedisLinks links, String line) {
        Request call = Request.cmd(Command.EVALSHA)
                .arg(SCRIPT.sha())
                .arg(1)
                .arg(key)
                .arg(name)
                .arg(line)
                .arg(AdmissionControl.HOLDS.toMillis());
        return RedisExchange.call(links.linkFor(key), SCRIPT, call).map(this::heard);
    }

    private long heard(@Nullable Response told) {
        if (told == null) {
            return 0;
        }
        for (int i = 1; i + 1 < told.size(); i += 2) {
            control.heard(told.get(i).toString(), flows(told.get(i + 1).toString()));
        }
        return told.get(0).toLong();
    }

    /** {@code shard:arrivals:meant:admitted:settled:coming:waiting} of each shard, with a comma between them, in whole numbers. */
    static String line(Map<Integer, Flow> flows) {
        StringBuilder line = new StringBuilder();
        flows.forEach((shard, flow) -> line.append(line.isEmpty() ? "" : ",")
                .append(shard)
                .append(':')
                .append(Math.round(flow.arrivals()))
                .append(':')
                .append(Math.round(flow.meant()))
                .append(':')
                .append(Math.round(flow.admitted()))
                .append(':')
                .append(Math.round(flow.settled()))
                .append(':')
                .append(Math.round(flow.coming()))
                .append(':')
                .append(Math.round(flow.waiting())));
        return line.toString();
    }

    /** Reads a line. What another version writes otherwise is passed over. */
    static Map<Integer, Flow> flows(String line) {
        Map<Integer, Flow> flows = new HashMap<>();
        Matcher each = SHARD.matcher(line);
        while (each.find()) {
            flows.put(
                    Integer.parseInt(each.group(1)),
                    new Flow(
                            number(each, 2),
                            number(each, 3),
                            number(each, 4),
                            number(each, 5),
                            number(each, 6),
                            number(each, 7)));
        }
        return flows;
    }

    private static double number(Matcher of, int group) {
        return Double.parseDouble(of.group(group));
    }

    @Override
    public Future<?> stop() {
        return redis.close();
    }
}
