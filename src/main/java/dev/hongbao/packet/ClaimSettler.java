package dev.hongbao.packet;

import dev.hongbao.engine.CursorMoves;
import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Mode.Settler;
import dev.hongbao.engine.Settlements;
import dev.hongbao.packet.Claim.AcceptedClaims;
import dev.hongbao.packet.Claim.SettledClaims;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.SqlState;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles accepted claims: one statement for the batch, with the amounts of the packets' slots. */
final class ClaimSettler implements Settler {
    private static final Logger LOG = LoggerFactory.getLogger(ClaimSettler.class);

    private static final String SETTLE =
            "select settled_at, drained, void from settle_claims($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

    private static final String SETTLE_BUT_VOID =
            "select settled_at, drained, void from settle_claims_but_void($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

    private final PacketCatalog catalog;
    private final EndedPackets ends;
    private final Settlements<SettledClaims> settlements;

    public ClaimSettler(PacketCatalog catalog, EndedPackets ends, Settlements<SettledClaims> settlements) {
        this.catalog = catalog;
        this.ends = ends;
        this.settlements = settlements;
    }

    @Override
    public JournalItem.Format format() {
        return AcceptedClaims.FORMAT;
    }

    @Override
    public Future<Settlement> prepare(List<JournalItem> items) {
        List<AcceptedClaims> all =
                items.stream().map(AcceptedClaims.class::cast).toList();
        return catalog.findWithAmounts(all).map(packets -> {
            Batch batch = new Batch(packets);
            // Sorted by packet, as the indexes are, so that a batch of many packets meets each index page once.
            all.stream()
                    .sorted(Comparator.comparing(claims -> claims.packet().value()))
                    .forEach(batch::add);
            return batch;
        });
    }

    /** The columns of one settlement. A claim refers to its packet by its index in {@code packets}, from 1. */
    private final class Batch implements Settlement {
        private final Map<PacketId, Packet> terms;
        private final List<Packet> packets = new ArrayList<>();
        private final Map<PacketId, Integer> placeOf = new HashMap<>();
        private final List<Integer> places = new ArrayList<>();
        private final List<Integer> slots = new ArrayList<>();
        private final List<Long> amounts = new ArrayList<>();
        private final List<UserId> users = new ArrayList<>();

        /**
         * The number of claims that cannot settle, by packet: an unknown packet, or a slot beyond its count. The statement gets these
         * packets too, and fails if one of them is set aside. Then nothing is void.
         */
        private final Map<PacketId, Integer> impossible = new LinkedHashMap<>();

        Batch(Map<PacketId, Packet> terms) {
            this.terms = terms;
        }

        void add(AcceptedClaims item) {
            Packet packet = terms.get(item.packet());
            if (packet == null || item.firstSlot() + item.size() > packet.count()) {
                impossible.merge(item.packet(), item.size(), Integer::sum);
                return;
            }
            Integer place = placeOf.computeIfAbsent(item.packet(), id -> {
                packets.add(packet);
                return packets.size();
            });
            for (int slot = item.firstSlot(); slot < item.firstSlot() + item.size(); slot++) {
                places.add(place);
                slots.add(slot);
                amounts.add(packet.amountOf(slot));
            }
            users.addAll(item.users());
        }

        /** Usually no claim is void. Otherwise a second statement settles the rest. */
        @Override
        public Future<Integer> send(SqlClient writer, CursorMoves moves) {
            return execute(moves.isNone() ? SETTLE_BUT_VOID : SETTLE, writer, moves)
                    .recover(fault -> SqlState.isVoidClaim(fault) && !moves.isNone()
                            ? execute(SETTLE_BUT_VOID, writer, moves)
                            : Future.failedFuture(fault))
                    .map(row -> committed(row, moves));
        }

        private Future<Row> execute(String statement, SqlClient writer, CursorMoves moves) {
            Tuple parameters = moves.toTuple()
                    .addArrayOfUUID(Stream.concat(packets.stream().map(Packet::id), impossible.keySet().stream())
                            .map(PacketId::value)
                            .toArray(UUID[]::new))
                    .addArrayOfInteger(places.toArray(Integer[]::new))
                    .addArrayOfInteger(slots.toArray(Integer[]::new))
                    .addArrayOfString(users.stream().map(UserId::value).toArray(String[]::new))
                    .addArrayOfLong(amounts.toArray(Long[]::new));
            return moves.send(writer, statement, parameters)
                    .map(rows -> rows.iterator().next());
        }

        private int committed(Row row, CursorMoves moves) {
            Instant at = Rows.instant(row, "settled_at");
            Integer[] voids = row.getArrayOfIntegers("void");
            List<Claim> settled = new ArrayList<>(places.size());
            int nextVoid = 0;
            for (int i = 0; i < places.size(); i++) {
                Packet packet = packets.get(places.get(i) - 1);
                UserId user = users.get(i);
                int slot = slots.get(i);
                if (nextVoid < voids.length && voids[nextVoid] == i + 1) {
                    nextVoid++;
                    LOG.error(
                            "accepted slot {} of {} for {} is void: it contradicts a settled claim, leaves a slot out, or the packet is not open",
                            slot,
                            packet.id(),
                            user);
                    continue;
                }
                settled.add(new Claim(packet.id(), user, slot, amounts.get(i), packet.asset(), at));
            }
            Set<UUID> drained = new HashSet<>(Arrays.asList(row.getArrayOfUUIDs("drained")));
            if (!moves.isNone()) { // else the transaction is still open, and may roll back
                ends.ended(packets.stream()
                        .filter(packet -> drained.contains(packet.id().value()))
                        .map(packet -> new EndedPackets.Ended(packet.id(), packet.shard()))
                        .toList());
                settlements.here().tell(new SettledClaims(settled, packets, moves.moves()));
            }
            impossible.forEach((packet, claims) -> LOG.error(
                    "{} accepted claims on packet {} are void: the packet is unknown or has fewer slots",
                    claims,
                    packet));
            return impossible.values().stream().mapToInt(Integer::intValue).sum() + voids.length;
        }
    }
}
