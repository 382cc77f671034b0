package dev.hongbao.packet;

import dev.hongbao.engine.CursorMoves;
import dev.hongbao.engine.JournalEntry.JournalItem;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.engine.Settlements;
import dev.hongbao.engine.Settlements.SettledFacts;
import dev.hongbao.engine.Wire.WireReader;
import dev.hongbao.engine.Wire.WireWriter;
import dev.hongbao.values.Asset;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Reason;
import dev.hongbao.values.UserId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A user's win of one share. It is accepted when Redis gave the slot, and the amount cannot be spent yet; it is settled when committed in
 * Postgres.
 *
 * @param slot the share's index in the packet, 0 to count - 1
 * @param amount minor units, fixed when the packet was sent
 * @param at time of the claim's transfer by Postgres' clock, to the microsecond; null while the claim is only accepted
 */
public record Claim(
        PacketId packet,
        UserId user,
        int slot,
        long amount,
        Asset asset,
        @Nullable Instant at) {

    /** A user on a packet: at most one claim (invariant I2). */
    record Key(PacketId packet, UserId user) {}

    Key key() {
        return new Key(packet, user);
    }

    /** A journal item: winners of a packet's slots from {@code firstSlot} on, in slot order. */
    public record AcceptedClaims(PacketId packet, int firstSlot, List<UserId> users) implements JournalItem {
        /** {@code <packet> <first slot> <user> …}, as claim.lua writes it. */
        public static final JournalItem.Format FORMAT = new JournalItem.Format("claim", AcceptedClaims::decode);

        public AcceptedClaims {
            users = List.copyOf(users);
        }

        @Override
        public String verb() {
            return FORMAT.verb();
        }

        @Override
        public int size() {
            return users.size();
        }

        @Override
        public Quarantine.Unit unit() {
            return Packet.unit(packet);
        }

        @Override
        public String payload() {
            return packet + " " + firstSlot + " "
                    + users.stream().map(UserId::inRedis).collect(Collectors.joining(" "));
        }

        static @Nullable AcceptedClaims decode(String payload) {
            int afterPacket = payload.indexOf(' ');
            int afterSlot = payload.indexOf(' ', afterPacket + 1);
            PacketId packet = afterPacket < 0 ? null : PacketId.parse(payload.substring(0, afterPacket));
            if (packet == null || afterSlot < 0) {
                return null;
            }
            List<UserId> users = new ArrayList<>();
            for (int begin = afterSlot + 1; begin <= payload.length(); ) {
                int space = payload.indexOf(' ', begin);
                int end = space < 0 ? payload.length() : space;
                UserId user = UserId.ofRedis(payload.substring(begin, end));
                if (user == null) {
                    return null;
                }
                users.add(user);
                begin = end + 1;
            }
            try {
                return new AcceptedClaims(
                        packet, Integer.parseUnsignedInt(payload, afterPacket + 1, afterSlot, 10), users);
            } catch (NumberFormatException malformed) {
                return null;
            }
        }
    }

    /**
     * The claims of one committed settlement, for {@link dev.hongbao.engine.Settlements}. Immutable.
     *
     * @param packets the claims' packets, each once; empty for another server's settlement
     * @param moves of the cursors of their shards; empty for another server's settlement
     */
    public record SettledClaims(List<Claim> claims, List<Packet> packets, List<CursorMoves.Move> moves) {
        /** Claims settled by another server. */
        public static SettledClaims elsewhere(List<Claim> claims) {
            return new SettledClaims(claims, List.of(), List.of());
        }

        public SettledClaims {
            claims = List.copyOf(claims);
            packets = List.copyOf(packets);
            moves = List.copyOf(moves);
        }

        /** Sends settled claims to other servers. They answer claims waiting there, and notify claimers' sockets. */
        public static final class Wire implements SettledFacts<SettledClaims> {
            private final Settlements<SettledClaims> settlements;

            public Wire(Settlements<SettledClaims> settlements) {
                this.settlements = settlements;
            }

            @Override
            public int kind() {
                return 16;
            }

            @Override
            public Settlements<SettledClaims> settlements() {
                return settlements;
            }

            @Override
            public List<CursorMoves.Move> moves(SettledClaims settled) {
                return settled.moves();
            }

            @Override
            public void write(SettledClaims settled, WireWriter to) {
                to.number(settled.claims().size());
                for (Claim claim : settled.claims()) {
                    to.uuid(claim.packet().value())
                            .text(claim.user().value())
                            .number(claim.slot())
                            .number(claim.amount())
                            .text(claim.asset().code())
                            .instant(Objects.requireNonNull(claim.at()));
                }
            }

            @Override
            public void heard(WireReader from) {
                List<Claim> claims = new ArrayList<>();
                for (int left = from.count(); left > 0; left--) {
                    claims.add(new Claim(
                            new PacketId(from.uuid()),
                            new UserId(from.text()),
                            from.number(),
                            from.longNumber(),
                            new Asset(from.text()),
                            from.instant()));
                }
                settlements.toWaiters().tell(SettledClaims.elsewhere(claims));
            }
        }
    }

    /**
     * The outcome of a claim (invariant I7): a closed set, never null or a number. A store's fault is not an outcome but a failed future with
     * {@link dev.hongbao.values.UnavailableException}.
     *
     * @param claim of the kinds that have one; null for a refusal
     * @param reason the cause of NOT_ELIGIBLE or LIMITED; null for the other kinds
     */
    public record ClaimOutcome(
            Kind kind, @Nullable Claim claim, @Nullable Reason reason) {

        public enum Kind {
            /** Redis gave the slot, and Postgres has not committed it. Only for callers that do not wait. */
            ACCEPTED,
            /** Won now, and settled. */
            CLAIMED,
            /** Won before. The claim is the first one. */
            ALREADY_CLAIMED,
            /** Other users claimed every share. */
            DRAINED,
            /** Time ran out. */
            EXPIRED,
            /** The packet opens later. */
            NOT_OPEN_YET,
            /** Not a member of the group, not a recipient, or not admitted by the pool's campaign. */
            NOT_ELIGIBLE,
            /** The passcode is missing or wrong. */
            WRONG_PASSCODE,
            /** The user has all shares that the pool's campaign allows one user. */
            LIMITED,
            /** The packet does not exist. */
            NOT_FOUND;

            /** True if nothing is won. */
            public boolean isRefusal() {
                return switch (this) {
                    case ACCEPTED, CLAIMED, ALREADY_CLAIMED -> false;
                    case DRAINED, EXPIRED, NOT_OPEN_YET, NOT_ELIGIBLE, WRONG_PASSCODE, LIMITED, NOT_FOUND -> true;
                };
            }
        }

        public ClaimOutcome {
            boolean won = !kind.isRefusal();
            if (won != (claim != null)) {
                throw new IllegalArgumentException(kind + (won ? " needs a claim" : " has no claim"));
            }
        }

        /** An outcome without a reason. */
        public ClaimOutcome(Kind kind, @Nullable Claim claim) {
            this(kind, claim, null);
        }

        public static ClaimOutcome refused(Kind kind) {
            return new ClaimOutcome(kind, null);
        }

        /** A refusal with its reason. */
        public static ClaimOutcome refused(Kind kind, Reason reason) {
            return new ClaimOutcome(kind, null, reason);
        }

        /**
         * The claim of an outcome that has one.
         *
         * @throws NullPointerException for a refusal
         */
        public Claim wonClaim() {
            return Objects.requireNonNull(claim);
        }
    }
}
