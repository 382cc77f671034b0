package dev.hongbao.packet;

import dev.hongbao.engine.Loop;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;

/** Ends packets as the host's backend does, on one loop of a server. */
public final class EarlyEnds {
    private final EarlyCloser closer;

    /** @param redis links of the loop */
    public EarlyEnds(Packets packets, Loop loop, RedisLinks redis) {
        this.closer = packets.closing(loop, redis);
    }

    public Future<Void> cancel(PacketId packet, UserId by) {
        return closer.cancel(packet, by);
    }

    public Future<Void> close(PacketId packet, UserId by) {
        return closer.close(packet, by);
    }
}
