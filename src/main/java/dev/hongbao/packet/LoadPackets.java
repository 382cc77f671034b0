package dev.hongbao.packet;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.ShardScript;
import dev.hongbao.values.PacketId;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;

/**
 * The call of {@code load.lua}: makes packets of one shard claimable. Idempotent. Returns the number of packets that were not claimable
 * before.
 */
public record LoadPackets(List<PacketId> packets) implements ShardScript.Call<Integer> {
    public LoadPackets {
        packets = List.copyOf(packets);
    }

    @Override
    public String script() {
        return "load";
    }

    @Override
    public int keys() {
        return packets.size();
    }

    @Override
    public void write(Generation generation, Request request) {
        packets.forEach(packet -> request.arg(PacketKeys.hash(generation, packet)));
    }

    @Override
    public ShardScript.Reply<Integer> read(Generation generation, Response reply) {
        return ShardScript.Reply.of(reply.toInteger());
    }
}
