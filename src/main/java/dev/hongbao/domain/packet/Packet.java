package dev.hongbao.domain.packet;

import dev.hongbao.common.json.Metadata;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.Reason;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.fairness.Commitment;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.split.SplitTerms;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The terms of a packet, fixed when it was sent, and those of its slots' amounts that were read so far. Thread-safe.
 */
public final class Packet {
    private final PacketId id;
    private final int shard;
    private final GroupId group;
    private final UserId sender;
    private final PacketKind kind;
    private final Asset asset;
    private final SplitTerms terms;
    private final SlotAmounts amounts;
    private final @Nullable String greeting;
    private final Metadata metadata;
    private final Commitment commitment;
    private final Set<UserId> recipients;
    private final @Nullable Passcode passcode;
    private final Instant createdAt;
    private final Instant opensAt;
    private final Instant expiresAt;
    private final @Nullable PoolTerms pool;

    /**
     * What is in a packet.
     *
     * @param terms how much there is, and how it is split
     * @param greeting null for none
     * @param commitment to the terms and the seed
     */
    public record Contents(
            PacketKind kind,
            Asset asset,
            SplitTerms terms,
            @Nullable String greeting,
            Metadata metadata,
            Commitment commitment) {}

    /**
     * Who may claim.
     *
     * @param recipients of an exclusive packet; empty for the other kinds
     * @param passcode null when none is asked for
     * @param pool what makes it a pool; null for a packet that its sender paid
     */
    public record Audience(
            GroupId group,
            Set<UserId> recipients,
            @Nullable Passcode passcode,
            @Nullable PoolTerms pool) {
        public Audience {
            recipients = Set.copyOf(recipients);
        }
    }

    /** When it was made, and when it can be claimed: from the opening until it expires. */
    public record Times(Instant createdAt, Instant opensAt, Instant expiresAt) {}

    /**
     * @param shard the shard that was stored with the packet
     */
    public Packet(PacketId id, int shard, UserId sender, Contents contents, Audience audience, Times times) {
        this.id = id;
        this.shard = shard;
        this.sender = sender;
        this.kind = contents.kind;
        this.asset = contents.asset;
        this.terms = contents.terms;
        this.amounts = new SlotAmounts(contents.terms.count());
        this.greeting = contents.greeting;
        this.metadata = contents.metadata;
        this.commitment = contents.commitment;
        this.group = audience.group;
        this.recipients = audience.recipients;
        this.passcode = audience.passcode;
        this.pool = audience.pool;
        this.createdAt = times.createdAt;
        this.opensAt = times.opensAt;
        this.expiresAt = times.expiresAt;
    }

    public PacketId id() {
        return id;
    }

    public int shard() {
        return shard;
    }

    public GroupId group() {
        return group;
    }

    public UserId sender() {
        return sender;
    }

    public PacketKind kind() {
        return kind;
    }

    public Asset asset() {
        return asset;
    }

    /** The total, minor units. */
    public long amount() {
        return terms.total();
    }

    /** How the amount is split. */
    public SplitTerms terms() {
        return terms;
    }

    /** To the terms and the seed; the seed itself is told when the packet is closed. */
    public Commitment commitment() {
        return commitment;
    }

    /** The number of shares. */
    public int count() {
        return amounts.count();
    }

    /** The amount of a slot, minor units; 0 while it is not at hand: {@link PacketCatalog} reads it. */
    public long amountOf(int slot) {
        return amounts.at(slot);
    }

    SlotAmounts amounts() {
        return amounts;
    }

    /** Null for none. */
    public @Nullable String greeting() {
        return greeting;
    }

    /** The sender's free words. */
    public Metadata metadata() {
        return metadata;
    }

    /** Whether {@code caller} may see it: a member of the group, and of a rain's drop everybody whom the rain is for. */
    public boolean isVisibleTo(Caller caller) {
        return caller.isMemberOf(group)
                || (pool != null && pool.claiming().members().include(caller));
    }

    /**
     * Why {@code caller} may not claim; null for a caller who may: one who may see it, of an exclusive packet a recipient, of a pool one whom the
     * campaign admits.
     */
    public @Nullable Reason unfit(Caller caller) {
        if (!isVisibleTo(caller)) {
            return Reason.GROUP;
        }
        if (kind == PacketKind.EXCLUSIVE && !recipients.contains(caller.user())) {
            return Reason.RECIPIENT;
        }
        return pool == null ? null : pool.claiming().unfit(caller);
    }

    /** What makes it a pool; null for a packet that its sender paid. */
    public @Nullable PoolTerms pool() {
        return pool;
    }

    /** Who may claim an exclusive packet; empty for the other kinds. */
    public Set<UserId> recipients() {
        return recipients;
    }

    /** The recipients as {@code viewer} may see them: the sender and the recipients do, others see none. */
    public Set<UserId> recipientsSeenBy(UserId viewer) {
        return viewer.equals(sender) || recipients.contains(viewer) ? recipients : Set.of();
    }

    /** Null when no passcode is asked for. */
    public @Nullable Passcode passcode() {
        return passcode;
    }

    public Instant createdAt() {
        return createdAt;
    }

    public Instant opensAt() {
        return opensAt;
    }

    /**
     * Whether it opens after {@code now}. One that opened when it was made never does: it is open for all who know of it, also by a
     * clock that lags.
     */
    public boolean opensAfter(Instant now) {
        return opensAt.isAfter(createdAt) && opensAt.isAfter(now);
    }

    public Instant expiresAt() {
        return expiresAt;
    }
}
