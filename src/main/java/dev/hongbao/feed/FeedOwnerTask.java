package dev.hongbao.feed;

import static java.util.stream.Collectors.toMap;

import dev.hongbao.engine.Generation;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Mode.OwnerTask;
import dev.hongbao.engine.Settlements.Audience;
import dev.hongbao.engine.ShardScript;
import dev.hongbao.engine.Shards;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.PacketKeys;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.PacketId;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The shard owner's work for feeds of packets: writes progress about ten times a second and group, for any number of claims; announces
 * packets that their server did not; removes old events. Its steps run on the persistence verticle's loop; {@link #settled} and {@link
 * #suspect} are safe on any thread.
 */
final class FeedOwnerTask implements OwnerTask {
    private static final int PAGE = 1000;
    private static final Duration UNANNOUNCED_AGE = Duration.ofSeconds(2);
    private static final long ANNOUNCE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Loop loop;
    private final FeedStore store;
    private final Shards shards;
    private final ShardScript script;
    private final ProgressQueue progressed;
    private final CatchUp catchUp;
    private final Runnable trim;
    private long announcedNanos;

    /**
     * @param over whether a packet is known to have ended
     * @param trim removes old events if it is time to
     */
    FeedOwnerTask(Loop loop, FeedStore store, Shards shards, Predicate<PacketId> over, Runnable trim) {
        this.progressed = new ProgressQueue(over);
        this.catchUp = new CatchUp(store::open, PAGE, next -> progressed.add(next.group(), next.packet()));
        this.loop = loop;
        this.store = store;
        this.shards = shards;
        this.script = new ShardScript(loop, shards);
        this.trim = trim;
        this.announcedNanos = loop.nanos();
    }

    /** Notes packets with newly settled claims. */
    void settled(List<Packet> packets) {
        packets.stream()
                .filter(packet -> !packet.group().isChannel()) // see RainFeedTask
                .forEach(packet -> progressed.add(packet.group(), packet.id()));
    }

    /** Requests a search in Postgres, after a settlement failed or its outcome is unknown. */
    void suspect() {
        catchUp.suspect();
    }

    @Override
    public Future<Void> run(List<Integer> live, RedisLinks redis) {
        trim.run();
        List<Generation> generations =
                live.stream().map(id -> shards.current(id).generation()).toList();
        return OwnerTask.inTurn(
                List.of(() -> catchUp.round(generations), this::tellProgress, () -> announceForgotten(live, redis)));
    }

    private Future<Void> tellProgress() {
        // Before the statement: claims settled during it are noted again for the next one.
        Map<GroupId, PacketId> batch = progressed.take(PAGE);
        if (batch.isEmpty()) {
            return Future.succeededFuture();
        }
        return store.progress(batch.values())
                .onSuccess(told -> nudge())
                .onFailure(fault -> batch.forEach(progressed::add));
    }

    private void nudge() {
        loop.publish(Audience.NUDGE, null);
    }

    private Future<Void> announceForgotten(List<Integer> live, RedisLinks redis) {
        if (loop.nanos() - announcedNanos < ANNOUNCE_NANOS || live.isEmpty()) {
            return Future.succeededFuture();
        }
        announcedNanos = loop.nanos();
        // Before the look: a later recovery may leave a packet out, and its fence then refuses this load.
        Map<Integer, Shards.Shard> known = live.stream().collect(toMap(id -> id, shards::current));
        return store.unannounced(live, UNANNOUNCED_AGE, PAGE)
                .compose(waiting -> waiting.isEmpty() ? Future.succeededFuture() : announce(waiting, known, redis));
    }

    /** Their sender may have died before it loaded them. A packet with claims was loaded, and only a recovery knows them all. */
    private Future<Void> announce(
            Map<Integer, List<PacketId>> waiting, Map<Integer, Shards.Shard> known, RedisLinks redis) {
        List<PacketId> all = waiting.values().stream().flatMap(List::stream).toList();
        return store.claimed(all).compose(claimed -> {
            List<Future<Void>> announcements = new ArrayList<>();
            waiting.forEach((id, packets) -> {
                Shards.Shard shard = Objects.requireNonNull(known.get(id));
                List<PacketId> unclaimed = new ArrayList<>(packets);
                unclaimed.removeAll(claimed);
                Future<?> loaded = unclaimed.isEmpty()
                        ? Future.succeededFuture()
                        : script.call(shard.generation().link(redis), shard, PacketKeys.load(unclaimed));
                announcements.add(loaded.<Void>compose(done -> store.announce(packets))
                        .onSuccess(told -> nudge())
                        .recover(ShardScript::unlessReported));
            });
            return Future.join(announcements).mapEmpty();
        });
    }

    /**
     * One pass over the open packets of shards whose settled claims this server may have missed. Reads them by id, a page a round, and reports
     * each packet with an outdated feed once a pass. A report must not begin another pass: a feed keeps the newest events only, and each
     * repeated event pushes out another. {@link #round} is for one event loop; {@link #suspect} is safe on any thread.
     */
    static final class CatchUp {
        private static final UUID FIRST = new UUID(0, 0);

        private final BiFunction<Map<Integer, UUID>, Integer, Future<List<OpenPacket>>> reader;
        private final int page;
        private final Consumer<OpenPacket> behind;

        /** The shards in the current pass, each with its last packet read. */
        private final Map<Integer, UUID> places = new HashMap<>();

        private Set<Generation> known = Set.of();
        private volatile boolean suspected;

        /**
         * An open packet.
         *
         * @param isBehind whether its feed shows less than its settled progress
         */
        record OpenPacket(int shard, PacketId packet, GroupId group, boolean isBehind) {}

        /**
         * @param reader reads the next open packets, see {@link FeedStore#open}
         * @param page packets read in a round, over all shards
         * @param behind receives the packets with an outdated feed
         */
        CatchUp(
                BiFunction<Map<Integer, UUID>, Integer, Future<List<OpenPacket>>> reader,
                int page,
                Consumer<OpenPacket> behind) {
            this.reader = reader;
            this.page = page;
            this.behind = behind;
        }

        /** Requests another pass over all shards, after the current one: repeated faults must not keep a pass from its end. */
        void suspect() {
            suspected = true;
        }

        /**
         * Reads the next page. A failed page is read again in the next round. A generation that was not live in the last round begins anew:
         * before it, another server or an operator's replay may have settled claims.
         */
        Future<Void> round(List<Generation> live) {
            if (suspected && places.isEmpty()) {
                suspected = false;
                known = Set.of();
            }
            places.keySet().retainAll(live.stream().map(Generation::shard).toList());
            live.stream().filter(each -> !known.contains(each)).forEach(each -> places.put(each.shard(), FIRST));
            known = Set.copyOf(live);
            if (places.isEmpty()) {
                return Future.succeededFuture();
            }
            int limit = Math.max(1, page / places.size());
            return reader.apply(Map.copyOf(places), limit).map(packets -> {
                looked(packets, limit);
                return null;
            });
        }

        private void looked(List<OpenPacket> packets, int limit) {
            Map<Integer, Integer> counts = new HashMap<>();
            for (OpenPacket packet : packets) {
                places.put(packet.shard, packet.packet.value());
                counts.merge(packet.shard, 1, Integer::sum);
                if (packet.isBehind) {
                    behind.accept(packet);
                }
            }
            places.keySet().removeIf(shard -> counts.getOrDefault(shard, 0) < limit);
        }
    }

    /**
     * Packets with progress that their feeds do not show. A tick takes one packet per group, the longest waiting first. So a group with many
     * open packets gets no more events than one. Thread-safe.
     */
    static final class ProgressQueue {
        private final Predicate<PacketId> over;
        private final Map<GroupId, LinkedHashSet<PacketId>> waiting = new LinkedHashMap<>();

        /** @param over whether a packet is known to have ended. It is skipped: its end has its own event */
        ProgressQueue(Predicate<PacketId> over) {
            this.over = over;
        }

        /** Puts a packet at the end of its group's queue, unless it waits already. */
        synchronized void add(GroupId group, PacketId packet) {
            waiting.computeIfAbsent(group, name -> new LinkedHashSet<>()).add(packet);
        }

        /** Takes the next packet of each group, of at most {@code most} groups; these groups come last the next time. */
        synchronized Map<GroupId, PacketId> take(int most) {
            Map<GroupId, PacketId> taken = new LinkedHashMap<>();
            Queue<GroupId> groups = new ArrayDeque<>(waiting.keySet());
            while (taken.size() < most && !groups.isEmpty()) {
                GroupId group = groups.remove();
                LinkedHashSet<PacketId> line = Objects.requireNonNull(waiting.remove(group));
                for (Iterator<PacketId> packets = line.iterator(); packets.hasNext(); ) {
                    PacketId packet = packets.next();
                    packets.remove();
                    if (!over.test(packet)) {
                        taken.put(group, packet);
                        break;
                    }
                }
                if (!line.isEmpty()) {
                    waiting.put(group, line);
                }
            }
            return taken;
        }
    }
}
