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

/** A packet's terms, fixed when it was sent, and the slot amounts read so far. Thread-safe. */
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
     * The contents of a packet.
     *
     * @param terms the total and its split
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
     * The rules for claimers.
     *
     * @param recipients of an exclusive packet; empty for the other kinds
     * @param passcode null for none
     * @param pool the terms of a pool; null for a packet that its sender paid
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

    /** The creation, the opening and the expiry. The packet can be claimed from its opening until its expiry. */
    public record Times(Instant createdAt, Instant opensAt, Instant expiresAt) {}

    /** @param shard stored with the packet */
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

    public SplitTerms terms() {
        return terms;
    }

    /** To the terms and the seed. The seed is published after the close. */
    public Commitment commitment() {
        return commitment;
    }

    public int count() {
        return amounts.count();
    }

    /** The amount of a slot, minor units; 0 while it is not loaded. {@link PacketCatalog} loads it. */
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

    /** The sender's own fields. */
    public Metadata metadata() {
        return metadata;
    }

    /** Whether {@code caller} may see the packet: a member of the group, or for a rain's drop the rain's audience. */
    public boolean isVisibleTo(Caller caller) {
        return caller.isMemberOf(group)
                || (pool != null && pool.claiming().members().include(caller));
    }

    /**
     * The reason why {@code caller} may not claim; null if the caller may. A claimer can see the packet, is a recipient of an exclusive
     * packet, and is admitted by a pool's campaign.
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

    /** The terms of a pool; null for a packet that its sender paid. */
    public @Nullable PoolTerms pool() {
        return pool;
    }

    /** The recipients of an exclusive packet; empty for the other kinds. */
    public Set<UserId> recipients() {
        return recipients;
    }

    /** The recipients as {@code viewer} may see them: all for the sender and the recipients, none for others. */
    public Set<UserId> recipientsSeenBy(UserId viewer) {
        return viewer.equals(sender) || recipients.contains(viewer) ? recipients : Set.of();
    }

    /** Null for none. */
    public @Nullable Passcode passcode() {
        return passcode;
    }

    public Instant createdAt() {
        return createdAt;
    }

    public Instant opensAt() {
        return opensAt;
    }

    /** Whether it opens after {@code now}. False for a packet without a delayed opening, even by a clock that lags. */
    public boolean opensAfter(Instant now) {
        return opensAt.isAfter(createdAt) && opensAt.isAfter(now);
    }

    public Instant expiresAt() {
        return expiresAt;
    }
}
