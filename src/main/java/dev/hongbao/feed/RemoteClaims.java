package dev.hongbao.feed;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.engine.Settlements;
import dev.hongbao.engine.Settlements.Audience;
import dev.hongbao.packet.Claim;
import dev.hongbao.packet.Claim.SettledClaims;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.PacketService;
import dev.hongbao.values.PacketId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies this server's sockets of claims settled by other servers. Groups' feeds show a packet's progress, and slots settle without gaps.
 * So the new claims take one query a packet and message, and none for this server's own settlements. Best effort, as {@link Settlements}.
 * Thread-safe.
 */
final class RemoteClaims {
    private static final Logger LOG = LoggerFactory.getLogger(RemoteClaims.class);

    private static final int MAX_PACKETS = 100_000;
    private static final int PAGE = 1_000;

    private final Settlements<SettledClaims> settled;
    private final PacketService packets;
    private final Audience audience;

    /** The next slot to notify, by packet. */
    private final Cache<PacketId, Integer> next = Caffeine.newBuilder()
            .maximumSize(MAX_PACKETS)
            .executor(Runnable::run)
            .build();

    RemoteClaims(Settlements<SettledClaims> settled, PacketService packets, Audience audience) {
        this.audience = audience;
        this.settled = settled;
        this.packets = packets;
        settled.here().add(here -> settledHere(here.claims()));
        settled.toWaiters().add(there -> heard(there.claims()));
    }

    /** Notes the last slot of each packet. Claims on a packet are consecutive, in slot order. */
    private void settledHere(List<Claim> claims) {
        for (int i = 0; i < claims.size(); i++) {
            PacketId packet = claims.get(i).packet();
            if (i + 1 == claims.size() || !claims.get(i + 1).packet().equals(packet)) {
                told(packet, claims.get(i).slot() + 1);
            }
        }
    }

    /**
     * Takes another server's claims. A packet's next claim is passed on at once. If earlier ones were missed, since nobody listened here,
     * all of them are read. No claim is passed on twice.
     */
    private void heard(List<Claim> claims) {
        List<Claim> fresh = new ArrayList<>();
        for (Claim claim : claims) {
            if (advanceIfNext(claim)) {
                fresh.add(claim);
            }
        }
        if (!audience.isEmpty()) {
            claims.forEach(claim -> tell(claim.packet(), claim.slot() + 1));
        }
        if (!fresh.isEmpty()) {
            settled.toListeners().tell(SettledClaims.elsewhere(fresh));
        }
    }

    /**
     * Advances a packet by a claim, if it is the next or the first.
     *
     * @return whether it was
     */
    private boolean advanceIfNext(Claim claim) {
        AtomicBoolean isNext = new AtomicBoolean();
        next.asMap().compute(claim.packet(), (packet, from) -> {
            isNext.set(from == null || from == claim.slot());
            return isNext.get() ? Integer.valueOf(claim.slot() + 1) : from;
        });
        return isNext.get();
    }

    /** Drops everything. For a Postgres that stepped back: passed-on slots may be won again. */
    void forget() {
        next.invalidateAll();
    }

    /** Takes new events of groups with followers on this server. */
    void seen(List<EventRow> rows) {
        for (EventRow row : rows) {
            PacketId packet = new PacketId(row.subject());
            switch (row.type()) {
                case EventRow.SENT -> told(packet, 0);
                case EventRow.PROGRESS -> tell(packet, row.count());
                case EventRow.DRAINED -> tell(packet, countOf(packet));
                case EventRow.EXPIRED -> tell(packet, Integer.MAX_VALUE);
                default -> {}
            }
        }
    }

    private int countOf(PacketId id) {
        Packet packet = packets.termsInMemory(id);
        return packet == null ? Integer.MAX_VALUE : packet.count();
    }

    private void told(PacketId packet, int upTo) {
        next.asMap().merge(packet, upTo, Math::max);
    }

    private void tell(PacketId packet, int upTo) {
        AtomicInteger first = new AtomicInteger(upTo);
        // Before the query, so that no concurrent event starts the same one. Claims from before this server listened
        // are not new.
        next.asMap().merge(packet, upTo, (from, to) -> {
            first.set(from);
            return Math.max(from, to);
        });
        if (first.get() < upTo) {
            read(packet, first.get(), upTo);
        }
    }

    private void read(PacketId packet, int from, int upTo) {
        packets.settledFrom(packet, from, PAGE)
                .onSuccess(claims -> {
                    List<Claim> fresh =
                            claims.stream().filter(claim -> claim.slot() < upTo).toList();
                    if (!fresh.isEmpty()) {
                        settled.toListeners().tell(SettledClaims.elsewhere(fresh));
                    }
                    if (fresh.size() == PAGE) {
                        read(packet, from + PAGE, upTo);
                    }
                })
                .onFailure(fault -> LOG.debug("claims on {} are not passed on: {}", packet, fault.toString()));
    }
}
