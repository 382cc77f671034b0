package dev.hongbao.packet;

import dev.hongbao.engine.Quarantine;
import dev.hongbao.packet.split.SplitTerms;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Caller;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.Named;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Reason;
import dev.hongbao.values.Sha256;
import dev.hongbao.values.UserId;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A packet's terms, fixed when it was sent, and the slot amounts read so far. Made by {@link #of}. Thread-safe.
 *
 * @param shard stored with the packet
 * @param terms the total and its split
 * @param commitment to the terms and the seed, which is published after the close
 * @param greeting null for none
 * @param metadata the sender's own fields
 * @param recipients of an exclusive packet; empty for the other kinds
 * @param passcode null for none
 * @param pool the terms of a pool; null for a packet that its sender paid
 * @param opensAt the packet can be claimed from here until {@code expiresAt}
 */
public record Packet(
        PacketId id,
        int shard,
        GroupId group,
        UserId sender,
        Kind kind,
        Asset asset,
        SplitTerms terms,
        Commitment commitment,
        @Nullable String greeting,
        Metadata metadata,
        Set<UserId> recipients,
        @Nullable Passcode passcode,
        @Nullable PoolTerms pool,
        Instant createdAt,
        Instant opensAt,
        Instant expiresAt,
        Amounts amounts) {

    /** Starts a packet. {@link Builder#shares} and {@link Builder#times} must follow. */
    public static Builder of(PacketId id, int shard, GroupId group, UserId sender) {
        return new Builder(id, shard, group, sender);
    }

    /** Builds a packet part by part. */
    public static final class Builder {
        private final PacketId id;
        private final int shard;
        private final GroupId group;
        private final UserId sender;
        private @Nullable Kind kind;
        private @Nullable Asset asset;
        private @Nullable SplitTerms terms;
        private @Nullable Commitment commitment;
        private @Nullable String greeting;
        private Metadata metadata = Metadata.NONE;
        private Set<UserId> recipients = Set.of();
        private @Nullable Passcode passcode;
        private @Nullable PoolTerms pool;
        private @Nullable Instant createdAt;
        private @Nullable Instant opensAt;
        private @Nullable Instant expiresAt;

        private Builder(PacketId id, int shard, GroupId group, UserId sender) {
            this.id = id;
            this.shard = shard;
            this.group = group;
            this.sender = sender;
        }

        public Builder shares(Kind ofKind, Asset ofAsset, SplitTerms split, Commitment toSeed) {
            this.kind = ofKind;
            this.asset = ofAsset;
            this.terms = split;
            this.commitment = toSeed;
            return this;
        }

        Builder text(@Nullable String greets, Metadata fields) {
            this.greeting = greets;
            this.metadata = fields;
            return this;
        }

        Builder claimers(Set<UserId> users, @Nullable Passcode word, @Nullable PoolTerms ofPool) {
            this.recipients = Set.copyOf(users);
            this.passcode = word;
            this.pool = ofPool;
            return this;
        }

        public Builder times(Instant creation, Instant opening, Instant expiry) {
            this.createdAt = creation;
            this.opensAt = opening;
            this.expiresAt = expiry;
            return this;
        }

        public Packet build() {
            return new Packet(
                    id,
                    shard,
                    group,
                    sender,
                    Objects.requireNonNull(kind),
                    Objects.requireNonNull(asset),
                    Objects.requireNonNull(terms),
                    Objects.requireNonNull(commitment),
                    greeting,
                    metadata,
                    recipients,
                    passcode,
                    pool,
                    Objects.requireNonNull(createdAt),
                    Objects.requireNonNull(opensAt),
                    Objects.requireNonNull(expiresAt),
                    new Amounts(terms.count()));
        }
    }

    /**
     * The loaded amounts of a packet's slots, minor units. Blocks of a thousand, as in the database, so that one share does not load a whole
     * large packet. Amounts never change. Thread-safe.
     */
    public static final class Amounts {
        /** Slots of a block, also in the schema. */
        static final int BLOCK = 1000;

        private final AtomicReferenceArray<long @Nullable []> blocks;

        private Amounts(int count) {
            this.blocks = new AtomicReferenceArray<>((count + BLOCK - 1) / BLOCK);
        }

        private long at(int slot) {
            long[] block = blocks.get(slot / BLOCK);
            return block == null ? 0 : block[slot % BLOCK];
        }

        /** True if the block is loaded or does not exist. */
        boolean has(int block) {
            return block >= blocks.length() || blocks.get(block) != null;
        }

        /** @param amounts of all slots of the block; not copied, the caller hands it over */
        void put(int block, long[] amounts) {
            blocks.set(block, amounts);
        }

        /** Takes over the blocks of another instance for the same packet. */
        void adopt(Amounts other) {
            for (int block = 0; block < blocks.length(); block++) {
                long[] theirs = other.blocks.get(block);
                if (theirs != null) {
                    blocks.set(block, theirs);
                }
            }
        }

        /** The number of loaded amounts. */
        int atHand() {
            int slots = 0;
            for (int block = 0; block < blocks.length(); block++) {
                long[] amounts = blocks.get(block);
                slots += amounts == null ? 0 : amounts.length;
            }
            return slots;
        }
    }

    /** The total, minor units. */
    public long amount() {
        return terms.total();
    }

    /** The number of shares. */
    public int count() {
        return terms.count();
    }

    /** The amount of a slot, minor units; 0 while it is not loaded. {@link PacketCatalog} loads it. */
    public long amountOf(int slot) {
        return amounts.at(slot);
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
        if (kind == Kind.EXCLUSIVE && !recipients.contains(caller.user())) {
            return Reason.RECIPIENT;
        }
        return pool == null ? null : pool.claiming().unfit(caller);
    }

    /** The recipients as {@code viewer} may see them: all for the sender and the recipients, none for others. */
    public Set<UserId> recipientsSeenBy(UserId viewer) {
        return viewer.equals(sender) || recipients.contains(viewer) ? recipients : Set.of();
    }

    /** Whether it opens after {@code now}. False for a packet without a delayed opening, even by a clock that lags. */
    public boolean opensAfter(Instant now) {
        return opensAt.isAfter(createdAt) && opensAt.isAfter(now);
    }

    /** The unit that quarantine sets aside. */
    public static Quarantine.Unit unit(PacketId id) {
        return new Quarantine.Unit("packet", id.value());
    }

    /** The kind of packet, chosen by the sender. */
    public enum Kind implements Named {
        /** 拼手气红包: random amounts, by one of the random splits. */
        LUCKY,
        /** 普通红包: equal amounts; the count must divide the total. */
        EQUAL,
        /** 专属红包: only the named recipients may claim; any split. */
        EXCLUSIVE;

        /** @throws IllegalArgumentException for an unknown kind */
        public static Kind of(String wireName) {
            return valueOf(wireName.toUpperCase(Locale.ROOT));
        }
    }

    /**
     * A packet's commitment at the send: the SHA-256 of its seed and of all terms of its shares. It reveals nothing of the seed, and no other
     * seed or terms have the same digest. Without passcode, recipients and greeting, so that nobody can test guesses of them against it
     * offline.
     *
     * @param splitVersion of the algorithm, see {@link SplitAlgorithm#VERSION}; 1 or more
     * @param digest 64 lower-case hexadecimal digits
     */
    public record Commitment(int splitVersion, String digest) {
        private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

        public Commitment {
            if (splitVersion < 1 || !DIGEST.matcher(digest).matches()) {
                throw new IllegalArgumentException("not a commitment: version " + splitVersion + ", " + digest);
            }
        }

        /**
         * The commitment of a new packet.
         *
         * @param seed 32 bytes
         */
        public static Commitment of(UUID packet, Asset asset, SplitTerms terms, byte[] seed) {
            return new Commitment(SplitAlgorithm.VERSION, Sha256.hex(text(packet, asset, terms, seed)));
        }

        /** The digested text: ten lines of ASCII, each with a line feed at its end, named as in the API. */
        public static String text(UUID packet, Asset asset, SplitTerms terms, byte[] seed) {
            return "hongbao-packet-v1"
                    + "\nid=" + packet
                    + "\nseed=" + HexFormat.of().formatHex(seed)
                    + "\nasset=" + asset.code()
                    + "\namount=" + terms.total()
                    + "\ncount=" + terms.count()
                    + "\nmin=" + terms.min()
                    + "\nmax=" + terms.max()
                    + "\nsplit=" + terms.algorithm().wireName()
                    + "\nsplitVersion=" + SplitAlgorithm.VERSION
                    + "\n";
        }
    }
}
