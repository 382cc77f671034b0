package dev.hongbao.campaign;

import dev.hongbao.packet.Claim;
import dev.hongbao.values.PacketId;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A rain as one viewer sees it.
 *
 * @param endsAt as planned, or the moment of the cancel
 * @param cancelledAt null for a rain that was not cancelled
 * @param fallen drops, in the order of their moments
 * @param mine the viewer's settled catches
 * @param seed of the moments, 64 hexadecimal digits; null until the end
 */
public record RainView(
        Rain rain,
        Status status,
        Instant endsAt,
        @Nullable Instant cancelledAt,
        Caught caught,
        List<Drop> fallen,
        List<Claim> mine,
        @Nullable String seed) {
    public RainView {
        fallen = List.copyOf(fallen);
        mine = List.copyOf(mine);
    }

    /** A copy with the fallen drops. */
    RainView with(List<Drop> drops) {
        return new RainView(rain, status, endsAt, cancelledAt, caught, drops, mine, seed);
    }

    /** A copy with the viewer's catches. */
    RainView caughtBy(List<Claim> claims) {
        return new RainView(rain, status, endsAt, cancelledAt, caught, fallen, claims, seed);
    }

    /**
     * The settled catches of a rain.
     *
     * @param shares on all drops
     * @param amount of the closed drops, minor units; with open drops, their last share could be computed
     * @param returned to the sponsor at the end
     */
    public record Caught(int shares, long amount, long returned) {}

    /**
     * A fallen drop.
     *
     * @param amount in all its shares, minor units
     * @param over true if no share can be caught any more
     */
    public record Drop(PacketId packet, Instant fellAt, long amount, boolean over) {}

    /** The state of a rain. */
    public enum Status {
        /** Before its start. */
        PLANNED,
        /** Its drops fall. */
        FALLING,
        /** After its end or a cancel. Its drops close, and the remainder returns to the sponsor. */
        ENDING,
        /** Over. The remainder is returned. */
        ENDED;

        /** The name in the API. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
