package dev.hongbao.domain.feed;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.domain.claim.SettledClaims;
import dev.hongbao.domain.packet.Claim;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.domain.packet.PacketCatalog;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.domain.packet.PacketStore;
import dev.hongbao.engine.cluster.Audience;
import dev.hongbao.engine.journal.Settlements;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims that another server settled, told here to the sockets of those who claimed. The groups' feeds tell how far a
 * packet has come; slots are settled without gaps; so what is new is one query a packet and message, and none for what this
 * server settled itself. Best effort, as {@link Settlements}. Thread-safe.
 */
final class RemoteClaims {
    private static final Logger LOG = LoggerFactory.getLogger(RemoteClaims.class);

    private static final int MAX_PACKETS = 100_000;
    private static final int PAGE = 1_000;

    private final Settlements<SettledClaims> settled;
    private final PacketStore store;
    private final PacketCatalog catalog;
    private final Audience audience;

    /** The slot of each packet from which on nothing was told here. */
    private final Cache<PacketId, Integer> next =
            Caffeine.newBuilder().maximumSize(MAX_PACKETS).build();

    RemoteClaims(Settlements<SettledClaims> settled, PacketStore store, PacketCatalog catalog, Audience audience) {
        this.audience = audience;
        this.settled = settled;
        this.store = store;
        this.catalog = catalog;
        settled.here().add(here -> settledHere(here.claims()));
        settled.toWaiters().add(there -> heard(there.claims()));
    }

    /** Those on a packet come one after the other, in the order of their slots. */
    private void settledHere(List<Claim> claims) {
        for (int i = 0; i < claims.size(); i++) {
            PacketId packet = claims.get(i).packet();
            if (i + 1 == claims.size() || !claims.get(i + 1).packet().equals(packet)) {
                told(packet, claims.get(i).share().slot() + 1);
            }
        }
    }

    /**
     * Another server says so: told at once if it is what comes next of its packet. If it comes after some that were not heard of, since
     * nobody here listened, all of these are read. Nobody hears one twice.
     */
    private void heard(List<Claim> claims) {
        List<Claim> fresh = new ArrayList<>();
        for (Claim claim : claims) {
            if (advanceIfNext(claim)) {
                fresh.add(claim);
            }
        }
        if (!audience.isEmpty()) {
            claims.forEach(claim -> tell(claim.packet(), claim.share().slot() + 1));
        }
        if (!fresh.isEmpty()) {
            settled.toListeners().tell(SettledClaims.elsewhere(fresh));
        }
    }

    /** Moves the packet on past a claim that comes next of it, or is the first one. @return whether it is */
    private boolean advanceIfNext(Claim claim) {
        AtomicBoolean isNext = new AtomicBoolean();
        next.asMap().compute(claim.packet(), (packet, from) -> {
            isNext.set(from == null || from == claim.share().slot());
            return isNext.get() ? Integer.valueOf(claim.share().slot() + 1) : from;
        });
        return isNext.get();
    }

    /** Postgres went back: slots that were told may be won again. */
    void forget() {
        next.invalidateAll();
    }

    /** Events that groups with followers on this server have not been told before. */
    void seen(List<EventRow> rows) {
        for (EventRow row : rows) {
            PacketId packet = new PacketId(row.subject());
            switch (row.type()) {
                case EventRow.SENT -> told(packet, 0);
                case EventRow.PROGRESS -> tell(packet, row.detail().count());
                case EventRow.DRAINED -> tell(packet, countOf(packet));
                case EventRow.EXPIRED -> tell(packet, Integer.MAX_VALUE);
                default -> {}
            }
        }
    }

    private int countOf(PacketId id) {
        Packet packet = catalog.cached(id);
        return packet == null ? Integer.MAX_VALUE : packet.count();
    }

    private void told(PacketId packet, int upTo) {
        next.asMap().merge(packet, upTo, Math::max);
    }

    private void tell(PacketId packet, int upTo) {
        AtomicInteger first = new AtomicInteger(upTo);
        // Before the query, so that no other asks for the same. Of what is older than this server's listening the
        // are nothing new.
        next.asMap().merge(packet, upTo, (from, to) -> {
            first.set(from);
            return Math.max(from, to);
        });
        if (first.get() < upTo) {
            read(packet, first.get(), upTo);
        }
    }

    private void read(PacketId packet, int from, int upTo) {
        store.claimsFrom(packet, from, PAGE)
                .onSuccess(claims -> {
                    List<Claim> fresh = claims.stream()
                            .filter(claim -> claim.share().slot() < upTo)
                            .toList();
                    if (!fresh.isEmpty()) {
                        settled.toListeners().tell(SettledClaims.elsewhere(fresh));
                    }
                    if (fresh.size() == PAGE) {
                        read(packet, from + PAGE, upTo);
                    }
                })
                .onFailure(fault -> LOG.debug("claims on {} are not told: {}", packet, fault.toString()));
    }
}
