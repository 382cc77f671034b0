package dev.hongbao.packet;

import dev.hongbao.journal.Generation;
import dev.hongbao.journal.Shards;
import dev.hongbao.redis.RedisFault;
import dev.hongbao.redis.RedisLink;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a packet that was just sent claimable, in the generation that the sending transaction read. One instance per event
 * loop.
 */
public final class PacketLoading {
    private static final Logger LOG = LoggerFactory.getLogger(PacketLoading.class);

    private static final long RETRY_MILLIS = 20;

    private final Vertx vertx;
    private final RedisLink redis;
    private final Shards shards;
    private final long waitMillis;

    /**
     * @param wait how long to wait for a recovery under way before the packet is left to the next one
     */
    public PacketLoading(Vertx vertx, RedisLink redis, Shards shards, Duration wait) {
        this.vertx = vertx;
        this.redis = redis;
        this.shards = shards;
        this.waitMillis = wait.toMillis();
    }

    /**
     * Loads the packet. Succeeds also when it could not: the packet exists all the same, and the recovery that is asked for
     * loads it. A generation that is over needs nothing: the recovery that ended it has seen the packet.
     */
    Future<Void> load(PacketId packet, Generation generation) {
        Promise<Void> done = Promise.promise();
        attempt(packet, generation, System.nanoTime() + waitMillis * 1_000_000, done);
        return done.future();
    }

    private void attempt(PacketId packet, Generation generation, long deadlineNanos, Promise<Void> done) {
        Shards.Shard current = shards.current(generation.shard());
        if (current.generation().epoch() > generation.epoch()) {
            loaded(packet, done);
            return;
        }
        if (!current.generation().equals(generation)) {
            again(packet, generation, deadlineNanos, done, shards.refresh());
            return;
        }
        redis.send(Request.cmd(Command.EVALSHA)
                        .arg(current.script("load").sha())
                        .arg(2)
                        .arg(generation.journalKey())
                        .arg(generation.packetKey(packet.toString())))
                .onSuccess(loaded -> loaded(packet, done))
                .onFailure(fault -> {
                    if (RedisFault.is(fault, RedisFault.Kind.NO_SCRIPT)
                            || RedisFault.is(fault, RedisFault.Kind.NO_JOURNAL)) {
                        // It certainly did not run: wait for the recovery that is under way, or start one.
                        again(packet, generation, deadlineNanos, done, shards.report(generation, null));
                    } else {
                        LOG.warn("packet {} waits for a recovery to be loaded: {}", packet, fault.getMessage());
                        shards.report(generation, packet.toString());
                        done.complete();
                    }
                });
    }

    private void loaded(PacketId packet, Promise<Void> done) {
        vertx.eventBus().publish(PacketLoaded.ADDRESS, new PacketLoaded(packet));
        done.complete();
    }

    private void again(
            PacketId packet, Generation generation, long deadlineNanos, Promise<Void> done, Future<Void> first) {
        if (System.nanoTime() > deadlineNanos) {
            LOG.warn("packet {} is left to the next recovery", packet);
            done.complete();
            return;
        }
        first.onComplete(
                looked -> vertx.setTimer(RETRY_MILLIS, later -> attempt(packet, generation, deadlineNanos, done)));
    }
}
