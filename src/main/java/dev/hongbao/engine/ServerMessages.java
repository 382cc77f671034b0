package dev.hongbao.engine;

import dev.hongbao.engine.Settlements.Audience;
import dev.hongbao.engine.Settlements.SettledFacts;
import dev.hongbao.engine.Wire.WireReader;
import dev.hongbao.engine.Wire.WireWriter;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the other servers news of journal entries, settlements, quarantine and feed changes, and receives theirs. Messages only
 * save time: the stores hold the same facts. A message about new entries makes the shard's owner read its journal; entries never
 * travel in messages. A settlement goes to the servers that wrote some of its entries and to servers with listeners. A change of
 * a feed goes to servers with listeners. One instance a server; confined to its event loop.
 *
 * <p>A message is a version, a kind and a body, in bytes. An unknown version or kind is ignored, so servers of two versions work
 * together, only slower.
 */
final class ServerMessages extends VerticleBase {
    /** The address on the event bus for a shard's number: its journal may have entries that were not published on this server. */
    static final String WAKE = "journal.wake";

    private static final Logger LOG = LoggerFactory.getLogger(ServerMessages.class);

    private static final int VERSION = 1;

    // The kinds of messages. Servers of two versions read each other's messages, so a number is never reused. 2 was
    // ENTRIES without places in the journals. From SettledFacts.FIRST_KIND on they are settled facts: 16 claims
    // (SettledClaims), 17 plays (SettledPlays).
    private static final int SELF = 1;
    private static final int NUDGE = 3;
    private static final int ENTRIES = 4;
    private static final int SET_ASIDE = 5;
    private static final int FAREWELL = 6;

    /** Between two hints of a kind: receivers poll no more often. */
    private static final long HINT_MILLIS = 20;

    private static final long LOOK_MILLIS = 50;

    /** Between two messages about this server without a change. Others learn that it is there; it learns that its line works. */
    private static final long SELF_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Loop loop;
    private final ServerLine line;
    private final Shards shards;
    private final Map<Integer, SettledFacts<?>> facts;
    private final Map<Integer, Hint> hints;
    private final Counter heard;
    private final Counter ignored;
    private final Audience audience;
    private final Peers peers = new Peers();
    private final LatelySettled lately = new LatelySettled();
    private final Map<Integer, Stretch> written = new HashMap<>();
    private final Peers.Awaited own = new Peers.Awaited();

    /** The kinds of hints that are sent soon. */
    private final Set<Integer> hinted = new HashSet<>();

    private Set<Integer> toldOwned = Set.of();
    private boolean toldListens;
    private long toldNanos;

    /** A server that was not known was heard: it does not know this one. */
    private boolean greets;

    /** No other server was heard lately; only SELF is sent. */
    private volatile boolean alone = true;

    /**
     * This server's settlements of the last second. Another server's message that it wrote an entry may arrive after that entry is
     * settled; the answer then comes from here. Bounded; not thread-safe.
     */
    private static final class LatelySettled {
        /**
         * Longer than a message takes between two healthy servers. A request waits about as long before it asks Postgres in any case.
         */
        private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(1);

        /** Settlements; each has at most some thousands of facts. */
        private static final int MOST = 64;

        private final Deque<Settled<?>> all = new ArrayDeque<>();

        /** One settlement's facts. They become a message only when a server needs it. */
        private record Settled<T>(SettledFacts<T> kind, T facts, List<CursorMoves.Move> moves, long atNanos) {
            Buffer message() {
                return ServerMessages.message(kind, facts, moves);
            }
        }

        <T> void add(SettledFacts<T> kind, T facts, List<CursorMoves.Move> moves, long nowNanos) {
            all.add(new Settled<>(kind, facts, moves, nowNanos));
            while (all.size() > MOST || nowNanos - all.element().atNanos > LATE_NANOS) {
                all.remove();
            }
        }

        /** The messages about settlements at these places, in order. */
        List<Buffer> at(Stretch places, long nowNanos) {
            List<Buffer> messages = new ArrayList<>();
            for (Settled<?> each : all) {
                if (nowNanos - each.atNanos <= LATE_NANOS && places.isTouchedByAny(each.moves)) {
                    messages.add(each.message());
                }
            }
            return messages;
        }
    }

    /**
     * A message without a body: the receiver looks into the stores.
     *
     * @param said the address on the event bus where this server publishes its own change
     * @param heard the address on the event bus for a change of another server
     * @param isForListeners whether only servers with listeners need it
     */
    private record Hint(String said, String heard, boolean isForListeners) {}

    /**
     * @param facts the kinds of settled facts, each with a number of its own
     * @param audience the listeners to everything
     * @throws IllegalArgumentException for a kind that is taken or out of range
     */
    ServerMessages(
            Loop loop,
            ServerLine line,
            Shards shards,
            List<SettledFacts<?>> facts,
            Audience audience,
            MeterRegistry metrics) {
        this.loop = loop;
        this.line = line;
        this.toldNanos = loop.nanos() - SELF_NANOS;
        this.shards = shards;
        this.facts = SettledFacts.byKind(facts);
        this.audience = audience;
        this.hints = Map.of(
                NUDGE, new Hint(Audience.NUDGE, Audience.NUDGED, true),
                SET_ASIDE, new Hint(Quarantine.SET_ASIDE, Quarantine.SET_ASIDE_ELSEWHERE, false));
        this.heard = counter(metrics, "heard");
        this.ignored = counter(metrics, "ignored");
    }

    static Counter counter(MeterRegistry metrics, String as) {
        return Counter.builder("hongbao.cluster.messages")
                .description(
                        "Messages of other servers: used (heard), malformed, late or of another version (ignored), wrongly signed (forged)")
                .tag("as", as)
                .register(metrics);
    }

    @Override
    public Future<?> start() {
        Executor here = loop.here();
        shards.foreignEntries().add(here, () -> !alone, this::written);
        facts.values().forEach(kind -> tellOf(kind, here));
        hints.forEach((kind, hint) -> loop.listen(hint.said, word -> tell(kind, hint)));
        loop.periodic(LOOK_MILLIS, () -> tellOfSelf());
        line.listen(message -> here.execute(() -> heard(message)));
        return Future.succeededFuture();
    }

    @Override
    public Future<?> stop() {
        line.tellAll(message(FAREWELL).text(line.self()).message());
        return line.close();
    }

    private static WireWriter message(int kind) {
        return new WireWriter().octet(VERSION).octet(kind);
    }

    /** Sends one message for all entries of one pass of the event loop. */
    private void written(Stretch entry) {
        if (written.isEmpty()) {
            loop.run(this::tellEntries);
        }
        written.merge(entry.shard(), entry, Stretch::and);
    }

    private void tellEntries() {
        Map<String, List<Stretch>> byOwner = new HashMap<>();
        long now = loop.nanos();
        for (Stretch places : written.values()) {
            own.wrote(places, now);
            byOwner.computeIfAbsent(peers.owner(places.shard()), owner -> new ArrayList<>())
                    .add(places);
        }
        written.clear();
        byOwner.forEach((owner, entries) -> {
            if (owner.isEmpty()) {
                line.tellAll(entriesOf(entries));
            } else {
                line.tell(owner, entriesOf(entries));
            }
        });
    }

    private Buffer entriesOf(List<Stretch> places) {
        return message(ENTRIES).text(line.self()).stretches(places).message();
    }

    /**
     * The previous owner of these shards may have lost the message about their entries with the shards. The new owner settles the
     * entries from the journal, so it needs to know which server waits.
     */
    private void tellAgain(String owner, List<Integer> taken) {
        long now = loop.nanos();
        List<Stretch> entries = taken.stream()
                .map(shard -> own.at(shard, now))
                .filter(Objects::nonNull)
                .toList();
        if (!entries.isEmpty()) {
            line.tell(owner, entriesOf(entries));
        }
    }

    /** A settlement without cursor moves is not sent: it may not be committed. */
    private <T> void tellOf(SettledFacts<T> kind, Executor here) {
        kind.settlements().here().add(here, () -> !alone, settled -> {
            List<CursorMoves.Move> moves = kind.moves(settled);
            if (moves.isEmpty()) {
                return;
            }
            long now = loop.nanos();
            lately.add(kind, settled, moves, now);
            List<String> concerned = peers.concerned(moves, now);
            if (!concerned.isEmpty()) {
                Buffer message = message(kind, settled, moves);
                concerned.forEach(server -> line.tell(server, message));
            }
        });
    }

    static <T> Buffer message(SettledFacts<T> kind, T facts, List<CursorMoves.Move> moves) {
        WireWriter writer = message(kind.kind())
                .generations(moves.stream().map(CursorMoves.Move::generation).toList());
        kind.write(facts, writer);
        return writer.message();
    }

    private void tell(int kind, Hint hint) {
        if (!alone && hinted.add(kind)) {
            loop.timer(HINT_MILLIS, () -> {
                hinted.remove(kind);
                Buffer message = message(kind).message();
                if (hint.isForListeners) {
                    peers.listening().forEach(server -> line.tell(server, message));
                } else {
                    line.tellAll(message);
                }
            });
        }
    }

    private void tellOfSelf() {
        Set<Integer> owned = shards.owned();
        boolean listens = !audience.isEmpty();
        long now = loop.nanos();
        peers.forgetSilent(now);
        alone = peers.isEmpty();
        audience.setElsewhere(!peers.listening().isEmpty());
        boolean changed = !owned.equals(toldOwned) || listens != toldListens;
        if (changed || greets || now - toldNanos > SELF_NANOS) {
            greets = false;
            toldOwned = owned;
            toldListens = listens;
            toldNanos = now;
            line.tellAll(message(SELF)
                    .text(line.self())
                    .numbers(owned)
                    .octet(listens ? 1 : 0)
                    .message());
        }
    }

    private void heard(Buffer message) {
        try {
            WireReader reader = new WireReader(message);
            if (reader.octet() == VERSION && heard(reader.octet(), reader)) {
                heard.increment();
                return;
            }
        } catch (RuntimeException malformed) {
            LOG.debug("a message of another server was ignored: {}", malformed.toString());
        }
        ignored.increment();
    }

    /** @return whether the message was of use */
    private boolean heard(int kind, WireReader message) {
        switch (kind) {
            case SELF -> {
                String server = message.text();
                greets |= !peers.knows(server);
                List<Integer> owned = message.numbers();
                owned.forEach(this::checked);
                tellAgain(server, peers.says(server, owned, message.octet() == 1, loop.nanos()));
                alone = false;
            }
            case FAREWELL -> peers.left(message.text());
            case ENTRIES -> {
                String server = message.text();
                List<Stretch> entries = message.stretches();
                entries.forEach(places -> checked(places.shard()));
                entries.forEach(places -> wrote(server, places));
            }
            case NUDGE, SET_ASIDE -> loop.publish(Objects.requireNonNull(hints.get(kind)).heard, null);
            default -> {
                SettledFacts<?> settled = facts.get(kind);
                return settled != null && heard(settled, message.generations(shards.namespace()), message);
            }
        }
        return true;
    }

    /** The sender may know of a recovery that this server has not heard of, while callers of other shards wait for the message. */
    private boolean heard(SettledFacts<?> settled, List<Generation> generations, WireReader message) {
        if (areCurrent(generations)) {
            settled.heard(message);
            return true;
        }
        if (generations.stream().noneMatch(this::isLater)) {
            return false;
        }
        var unused = shards.refresh().map(read -> {
            if (areCurrent(generations)) {
                settled.heard(message);
            }
            return null;
        });
        return true;
    }

    private boolean isLater(Generation generation) {
        return generation.epoch()
                > shards.current(generation.shard()).generation().epoch();
    }

    /** The message mostly arrives before the settlement, sometimes a moment after it. */
    private void wrote(String server, Stretch places) {
        long now = loop.nanos();
        peers.wrote(server, places, now);
        lately.at(places, now).forEach(message -> line.tell(server, message));
        loop.publish(WAKE, places.shard());
    }

    private int checked(int shard) {
        if (shard < 0 || shard >= shards.count()) {
            throw new IllegalArgumentException("no shard " + shard);
        }
        return shard;
    }

    /** Facts of an older generation may belong to a history that Postgres has lost. */
    private boolean areCurrent(List<Generation> generations) {
        for (Generation each : generations) {
            if (!shards.current(checked(each.shard())).generation().equals(each)) {
                return false;
            }
        }
        return true;
    }

    /**
     * The other servers, as their own messages describe them: their shards, whether they listen to all settlements, and their places
     * in the journals. It only selects the receivers of messages, so a wrong entry costs speed and nothing else. A server that is
     * silent for five seconds is forgotten. Not thread-safe.
     */
    static final class Peers {
        private static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(5);

        private final Map<String, Peer> peers = new HashMap<>();

        /** The places in the shards' journals that one server wrote lately and may wait for. Not thread-safe. */
        static final class Awaited {
            /** No request waits longer for its settlement. */
            private static final long LATELY_NANOS = TimeUnit.SECONDS.toNanos(2);

            private final Map<Integer, Places> byShard = new HashMap<>();

            /** @param sinceNanos when the server last wrote there */
            private record Places(Stretch stretch, long sinceNanos) {
                boolean isLate(long nowNanos) {
                    return nowNanos - sinceNanos >= LATELY_NANOS;
                }
            }

            void wrote(Stretch places, long nowNanos) {
                Stretch before = at(places.shard(), nowNanos);
                byShard.put(places.shard(), new Places(before == null ? places : before.and(places), nowNanos));
            }

            /** The server's places in a shard; null if it waits for none. */
            @Nullable
            Stretch at(int shard, long nowNanos) {
                Places places = byShard.get(shard);
                return places == null || places.isLate(nowNanos) ? null : places.stretch;
            }

            /** Whether the move passes one of these places. */
            boolean isTouchedBy(CursorMoves.Move move, long nowNanos) {
                Stretch places = at(move.generation().shard(), nowNanos);
                return places != null && places.isTouchedBy(move);
            }

            /** Forgets a stretch once the cursor has passed all of it. */
            void settled(CursorMoves.Move move) {
                Places places = byShard.get(move.generation().shard());
                if (places != null && places.stretch.isOverAfter(move)) {
                    byShard.remove(move.generation().shard());
                }
            }
        }

        private static final class Peer {
            private final Awaited awaited = new Awaited();
            private Set<Integer> owned = Set.of();
            private boolean listens;
            private long heardNanos;
        }

        private Peer heard(String name, long nowNanos) {
            Peer peer = peers.computeIfAbsent(name, first -> new Peer());
            peer.heardNanos = nowNanos;
            return peer;
        }

        boolean isEmpty() {
            return peers.isEmpty();
        }

        boolean knows(String name) {
            return peers.containsKey(name);
        }

        void left(String name) {
            peers.remove(name);
        }

        /**
         * Takes a server's message about itself.
         *
         * @param owned all its shards; each of them leaves the server that claimed it before
         * @param listens whether it needs every settlement and every change of a feed
         * @return the shards that are new to it
         */
        List<Integer> says(String name, Collection<Integer> owned, boolean listens, long nowNanos) {
            Peer peer = heard(name, nowNanos);
            List<Integer> taken =
                    owned.stream().filter(shard -> !peer.owned.contains(shard)).toList();
            peers.values().forEach(each -> each.owned = without(each.owned, owned));
            peer.owned = Set.copyOf(owned);
            peer.listens = listens;
            return taken;
        }

        private static Set<Integer> without(Set<Integer> all, Collection<Integer> some) {
            return all.stream().filter(each -> !some.contains(each)).collect(Collectors.toUnmodifiableSet());
        }

        /** A server wrote at these places and waits for their settlement. */
        void wrote(String name, Stretch places, long nowNanos) {
            heard(name, nowNanos).awaited.wrote(places, nowNanos);
        }

        /** The name of the server that claims to own a shard; empty if none does. */
        String owner(int shard) {
            for (Map.Entry<String, Peer> peer : peers.entrySet()) {
                if (peer.getValue().owned.contains(shard)) {
                    return peer.getKey();
                }
            }
            return "";
        }

        List<String> listening() {
            return peers.entrySet().stream()
                    .filter(peer -> peer.getValue().listens)
                    .map(Map.Entry::getKey)
                    .toList();
        }

        /**
         * The receivers of a message about these moves: servers that listen to everything, and servers that wait for one of the
         * entries. Removes the waits that the moves end.
         */
        List<String> concerned(List<CursorMoves.Move> moves, long nowNanos) {
            List<String> concerned = new ArrayList<>();
            peers.forEach((name, peer) -> {
                boolean isConcerned = peer.listens;
                for (CursorMoves.Move move : moves) {
                    isConcerned |= peer.awaited.isTouchedBy(move, nowNanos);
                    peer.awaited.settled(move);
                }
                if (isConcerned) {
                    concerned.add(name);
                }
            });
            return concerned;
        }

        void forgetSilent(long nowNanos) {
            peers.values().removeIf(peer -> nowNanos - peer.heardNanos > SILENT_NANOS);
        }
    }
}
