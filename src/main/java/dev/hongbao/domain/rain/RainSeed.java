package dev.hongbao.domain.rain;

import dev.hongbao.domain.odds.Moments;
import dev.hongbao.domain.odds.SeededChance;
import dev.hongbao.domain.rain.RainDefinition.Fall;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;

/**
 * The seed of a rain, from which its moments come as those of a draw's scheduled prizes do. Whoever has it knows when each drop falls, so
 * nobody is told before the end; it does not print itself. Immutable.
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

    byte[] toBytes() {
        return bytes.clone();
    }

    /** When the drops fall, in order of time: the list {@code moments 0 1} of {@link SeededChance}, over the rain's milliseconds. */
    public List<Instant> moments(Instant from, Instant to, int drops) {
        SeededChance chance = new SeededChance(bytes);
        chance.beginMoments(0, 1);
        return Arrays.stream(Moments.scatter(chance, from.toEpochMilli(), to.toEpochMilli(), drops))
                .mapToObj(Instant::ofEpochMilli)
                .toList();
    }

    List<Instant> moments(Fall fall) {
        return moments(fall.startsAt(), fall.lastAt(), fall.drops());
    }

    /** The commitment of a rain with this seed: 32 bytes. Postgres computes it too. */
    byte[] commitment(UUID rain, Fall fall) {
        String text = "hongbao-rain-v1"
                + "\nid=" + rain
                + "\nseed=" + HexFormat.of().formatHex(bytes)
                + "\nfrom=" + fall.startsAt().toEpochMilli()
                + "\nto=" + fall.lastAt().toEpochMilli()
                + "\ndrops=" + fall.drops()
                + "\n";
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.US_ASCII));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    public String toString() {
        return "a seed";
    }
}
