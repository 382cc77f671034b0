package dev.hongbao.feed;

import dev.hongbao.draw.Draws;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Mode.OwnerTask;
import dev.hongbao.engine.Mode.SettlementListener;
import dev.hongbao.engine.Shards;
import dev.hongbao.packet.Packets;
import io.vertx.sqlclient.Pool;
import java.util.List;

/** The part of {@link Feeds} that tells of packets and draws at their owner, without readers, and without the removal of old events. */
public final class OwnerFeeds implements SettlementListener {
    private final FeedOwnerTask packetTask;
    private final DrawFeedTask drawTask;

    public OwnerFeeds(Loop loop, Pool owner, Shards shards, Packets packets, Draws draws) {
        this.packetTask = new FeedOwnerTask(loop, new FeedStore(owner), shards, packets.service::isKnownOver, () -> {});
        this.drawTask = new DrawFeedTask(loop, owner, id -> shards.current(id).generation());
        packets.settlements.here().add(settled -> packetTask.settled(settled.packets()));
        draws.settlements.here().add(settled -> drawTask.settled(settled.requests()));
        shards.whenPostgresWentBack(this::uncertain);
    }

    @Override
    public void settled() {}

    @Override
    public void uncertain() {
        packetTask.suspect();
        drawTask.suspect();
    }

    @Override
    public List<OwnerTask> ownerTasks() {
        return List.of(packetTask, drawTask.openings(), drawTask);
    }
}
