package dev.hongbao.packet;

import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Mode.OwnerTask;
import dev.hongbao.engine.ShardScript;
import dev.hongbao.engine.Shards;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.values.PacketId;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;

/**
 * Closes expired packets by Postgres' clock. Each close is a journal entry, so it follows every claim accepted before. Also pays due
 * refunds, and removes the keys of ended packets.
 */
final class PacketCloser {
    /** Packets of a shard in one query: two calls of the close script. Also the number of keys removed at a time. */
    private static final int PAGE = 2 * ClosePackets.MOST;

    /** Accounts paid at a time, each in its own transaction. */
    private static final int PAYEES = 64;

    private final PacketStore store;
    private final EndedPackets ends;
    private final Shards shards;
    private final ShardScript script;

    public PacketCloser(PacketStore store, EndedPackets ends, Shards shards, Loop loop) {
        this.store = store;
        this.ends = ends;
        this.shards = shards;
        this.script = new ShardScript(loop, shards);
    }

    List<OwnerTask> tasks() {
        return List.of(
                (live, redis) -> removeKeys(redis),
                OwnerTask.whileAny(PacketStore.ANY_DUE, this::closeDue),
                OwnerTask.whileAny(PacketStore.DUE_REFUNDS, (live, redis) -> payRefunds(live, PAYEES)));
    }

    private Future<Void> payRefunds(List<Integer> live, int most) {
        return store.payRefunds(live)
                .compose(paid -> paid == 0 || most == 1 ? Future.succeededFuture() : payRefunds(live, most - 1));
    }

    private Future<Void> closeDue(List<Integer> live, RedisLinks redis) {
        return store.due(live, PAGE).compose(due -> {
            List<Future<Void>> closes = new ArrayList<>();
            due.forEach((shard, packets) -> {
                for (int from = 0; from < packets.size(); from += ClosePackets.MOST) {
                    int to = Math.min(packets.size(), from + ClosePackets.MOST);
                    closes.add(close(redis, shard, packets.subList(from, to)));
                }
            });
            return Future.join(closes).mapEmpty();
        });
    }

    private Future<Void> close(RedisLinks redis, int shard, List<PacketId> packets) {
        Shards.Shard current = shards.current(shard);
        return script.call(
                        current.generation().link(redis),
                        current,
                        new ClosePackets(packets.stream()
                                        .map(packet -> new Close(packet, null, null))
                                        .toList())
                                .call())
                .<Void>mapEmpty()
                .recover(ShardScript::unlessReported);
    }

    private Future<Void> removeKeys(RedisLinks redis) {
        List<EndedPackets.Ended> over = ends.takeKeys(PAGE);
        if (over.isEmpty()) {
            return Future.succeededFuture();
        }
        return redis.unlink(over.stream()
                .map(ended -> PacketKeys.hash(shards.current(ended.shard()).generation(), ended.packet()))
                .toList());
    }
}
