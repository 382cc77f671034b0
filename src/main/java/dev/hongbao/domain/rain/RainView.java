package dev.hongbao.domain.rain;

import dev.hongbao.domain.packet.Claim;
import dev.hongbao.domain.packet.PacketId;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A rain as one viewer sees it.
 *
 * @param fallen drops that have fallen, in the order of their moments
 * @param mine what the viewer has caught, settled
 * @param seed of the moments, 64 hexadecimal digits; null until the end
 */
public record RainView(
        Rain rain,
        Life life,
        Caught caught,
        List<Drop> fallen,
        List<Claim> mine,
        @Nullable String seed) {
    public RainView {
        fallen = List.copyOf(fallen);
        mine = List.copyOf(mine);
    }

    /** The same for somebody who has caught this of it. */
    RainView caughtBy(List<Claim> claims) {
        return new RainView(rain, life, caught, fallen, claims, seed);
    }

    /**
     * Where it is in its life.
     *
     * @param endsAt as planned, or when it was cancelled
     * @param cancelledAt null for a rain that was not
     */
    public record Life(
            Status status, Instant endsAt, @Nullable Instant cancelledAt) {}

    /**
     * How much of it is caught and settled.
     *
     * @param shares on all drops
     * @param amount of the drops that are over, minor units; of an open drop it would tell what its last share is
     * @param returned to the sponsor at the end
     */
    public record Caught(int shares, long amount, long returned) {}

    /**
     * A drop that has fallen.
     *
     * @param amount in all its shares, minor units
     * @param over whether nobody can catch of it any more
     */
    public record Drop(PacketId packet, Instant fellAt, long amount, boolean over) {}

    /** Where a rain is in its life. */
    public enum Status {
        /** It starts later. */
        PLANNED,
        /** Its drops fall. */
        FALLING,
        /** Its time is over, or it is cancelled; its drops close, and what is left goes back to the sponsor. */
        ENDING,
        /** Over; what was left is returned. */
        ENDED;

        /** The name in the API. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
