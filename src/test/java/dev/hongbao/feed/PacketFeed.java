package dev.hongbao.feed;

import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Mode.OwnerTask;
import dev.hongbao.engine.Mode.SettlementListener;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.engine.Shards;
import dev.hongbao.packet.Packets;
import io.vertx.sqlclient.Pool;
import java.util.List;

/** The part of {@link Feeds} that tells of packets at their owner, without readers, and without the removal of old events. */
public final class PacketFeed implements SettlementListener {
    private final FeedOwnerTask task;

    public PacketFeed(Loop loop, Pool owner, Shards shards, Packets packets) {
        this.task = new FeedOwnerTask(loop, new FeedStore(owner), shards, packets.service::isKnownOver, () -> {});
        packets.settlements.here().add(settled -> task.settled(settled.packets()));
        loop.<Quarantine.Changed>listen(Quarantine.Changed.ADDRESS, changed -> task.suspect());
        shards.whenPostgresWentBack(task::suspect);
    }

    @Override
    public void settled() {}

    @Override
    public void uncertain() {
        task.suspect();
    }

    @Override
    public List<OwnerTask> ownerTasks() {
        return List.of(task);
    }
}
