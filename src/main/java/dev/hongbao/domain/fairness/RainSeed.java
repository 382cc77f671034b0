package dev.hongbao.domain.fairness;

import dev.hongbao.common.values.Sha256;
import dev.hongbao.domain.odds.Moments;
import dev.hongbao.domain.odds.SeededChance;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;

/**
 * The seed of a rain, which gives its moments as a draw's seed gives the moments of scheduled prizes. It determines when each drop falls,
 * so it is secret until the end, and not part of {@link #toString}. Immutable.
 */
public final class RainSeed {
    public static final int BYTES = 32;

    private final byte[] bytes;

    /** @throws IllegalArgumentException when there are not 32 bytes */
    public RainSeed(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a seed has " + BYTES + " bytes, not " + bytes.length);
        }
        this.bytes = bytes.clone();
    }

    /** The stored bytes. */
    public byte[] toBytes() {
        return bytes.clone();
    }

    /**
     * The moments of the drops: the list {@code moments 0 1} of {@link SeededChance}, over the milliseconds.
     *
     * @param from included; whole milliseconds
     * @param to excluded; after {@code from}, by less than 10^12 ms
     * @return in order of time
     */
    public List<Instant> moments(Instant from, Instant to, int drops) {
        SeededChance chance = new SeededChance(bytes);
        chance.beginMoments(0, 1);
        return Arrays.stream(Moments.scatter(chance, from.toEpochMilli(), to.toEpochMilli(), drops))
                .mapToObj(Instant::ofEpochMilli)
                .toList();
    }

    /** The commitment of a rain with this seed to these moments: 64 hexadecimal digits. Postgres computes it too. */
    public String commitment(UUID rain, Instant from, Instant to, int drops) {
        return Sha256.hex(text(rain, from, to, drops));
    }

    /** The digested text: six lines of ASCII, each with a line feed at its end. */
    String text(UUID rain, Instant from, Instant to, int drops) {
        return "hongbao-rain-v1"
                + "\nid=" + rain
                + "\nseed=" + HexFormat.of().formatHex(bytes)
                + "\nfrom=" + from.toEpochMilli()
                + "\nto=" + to.toEpochMilli()
                + "\ndrops=" + drops
                + "\n";
    }

    @Override
    public String toString() {
        return "a seed";
    }
}
