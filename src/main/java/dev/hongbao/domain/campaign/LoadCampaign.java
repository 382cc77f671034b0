package dev.hongbao.domain.campaign;

import dev.hongbao.domain.packet.PacketKeys;
import dev.hongbao.engine.journal.KeyLoader;
import dev.hongbao.engine.journal.ShardScript;
import dev.hongbao.engine.shard.Generation;
import io.vertx.core.Future;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;

/** The call of {@code load.lua} for the hash of a campaign that counts claims. Idempotent. Returns the number of new hashes, 0 or 1. */
public record LoadCampaign(CampaignId id) implements ShardScript.Call<Integer> {
    @Override
    public String script() {
        return "load";
    }

    @Override
    public int keys() {
        return 1;
    }

    @Override
    public void write(Generation generation, Request request) {
        request.arg(PacketKeys.campaign(generation, id.value()));
    }

    @Override
    public ShardScript.Reply<Integer> read(Generation generation, Response reply) {
        return ShardScript.Reply.of(reply.toInteger());
    }

    /** Loads the hash of a committed campaign, as {@link KeyLoader#load} does. */
    public Future<Void> by(KeyLoader loading, Generation generation) {
        return loading.load(generation, PacketKeys.campaign(generation, id.value()), this)
                .mapEmpty();
    }
}
