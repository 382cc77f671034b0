package dev.hongbao.domain.packet;

import dev.hongbao.domain.packet.PacketStore.Due;
import dev.hongbao.engine.journal.JournalEntry;
import dev.hongbao.engine.journal.JournalItem;
import dev.hongbao.engine.journal.OwnerTask;
import dev.hongbao.engine.redis.RedisFault;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.eventbus.EventBus;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Closes packets whose time ran out, by Postgres' clock: an entry in the journal, so that it comes after every claim that was
 * accepted before it. Also removes the keys of packets that ended.
 */
public final class PacketCloser implements OwnerTask {
    /** Packets a query; and what {@code close.lua} takes at once. */
    private static final int PAGE = 1000;

    private static final int SCRIPT_PAGE = 256;

    private final PacketStore store;
    private final PacketCleanup ends;
    private final Shards shards;
    private final EventBus bus;

    public PacketCloser(PacketStore store, PacketCleanup ends, Shards shards, EventBus bus) {
        this.store = store;
        this.ends = ends;
        this.shards = shards;
        this.bus = bus;
    }

    @Override
    public Future<Void> run(List<Integer> live, RedisLink redis) {
        return removeKeys(redis).compose(removed -> store.due(live, PAGE)).compose(due -> {
            Map<Integer, List<Due>> byShard = due.stream().collect(Collectors.groupingBy(Due::shard));
            List<Future<Void>> closes = new ArrayList<>();
            byShard.forEach((shard, packets) -> {
                for (int from = 0; from < packets.size(); from += SCRIPT_PAGE) {
                    int to = Math.min(packets.size(), from + SCRIPT_PAGE);
                    closes.add(close(redis, shards.current(shard), packets.subList(from, to)));
                }
            });
            return Future.join(closes).mapEmpty();
        });
    }

    private Future<Void> close(RedisLink redis, Shards.Shard shard, List<Due> packets) {
        Generation generation = shard.generation();
        Request close = Request.cmd(Command.EVALSHA)
                .arg(shard.script("close").sha())
                .arg(packets.size() + 1)
                .arg(generation.journalKey());
        packets.forEach(packet -> close.arg(generation.packetKey(packet.id().toString())));
        packets.forEach(packet -> close.arg(packet.id().toString()));
        return redis.send(close)
                .compose(reply -> {
                    String[] outcomes = reply.get(1).toString().split(" ");
                    List<JournalItem> closing = new ArrayList<>();
                    Future<Void> reported = Future.succeededFuture();
                    for (int i = 0; i < outcomes.length; i++) {
                        PacketId id = packets.get(i).id();
                        if (outcomes[i].equals("closing")) {
                            closing.add(new Close(id));
                        } else if (outcomes[i].equals("missing")) {
                            reported = shards.report(generation, generation.packetKey(id.toString()));
                        }
                    }
                    if (!closing.isEmpty()) {
                        long seq = Long.parseLong(reply.get(0).toString());
                        bus.publish(
                                JournalEntry.address(generation.shard()),
                                new JournalEntry(generation, seq, Close.VERB, closing));
                    }
                    return reported;
                })
                .recover(fault -> {
                    if (RedisFault.is(fault, RedisFault.Kind.NO_SCRIPT)
                            || RedisFault.is(fault, RedisFault.Kind.NO_JOURNAL)) {
                        return shards.report(generation, null);
                    }
                    return RedisFault.is(fault, RedisFault.Kind.ERROR)
                            ? shards.reportFault(generation)
                            : Future.failedFuture(fault);
                });
    }

    private Future<Void> removeKeys(RedisLink redis) {
        List<PacketId> over = ends.takeKeys(PAGE);
        if (over.isEmpty()) {
            return Future.succeededFuture();
        }
        Request unlink = Request.cmd(Command.UNLINK);
        for (PacketId packet : over) {
            int shard = shards.shardFor(packet.value());
            unlink.arg(shards.current(shard).generation().packetKey(packet.toString()));
        }
        return redis.send(unlink).onFailure(kept -> ends.putBack(over)).mapEmpty();
    }
}
