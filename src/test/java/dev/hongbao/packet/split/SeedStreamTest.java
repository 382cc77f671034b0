package dev.hongbao.packet.split;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SeedStreamTest {
    private static SeedStream countingSeed() {
        byte[] seed = new byte[32];
        for (int i = 0; i < seed.length; i++) {
            seed[i] = (byte) i;
        }
        return new SeedStream(seed);
    }

    /**
     * Against another implementation: {@code head -c 2064 /dev/zero | openssl enc -aes-256-ctr -K 000102…1f -iv
     * 68622d73706c69742d76313a00000000}; the words at 0, 1024 and 2048 bytes, so that refills are seen too.
     */
    @Test
    void theStreamIsAesInCounterMode() {
        // Given
        SeedStream random = countingSeed();

        // When
        long[] longs = IntStream.range(0, 258).mapToLong(i -> random.nextLong()).toArray();

        // Then
        assertThat(longs[0]).isEqualTo(0xdbf30740646738b2L);
        assertThat(longs[1]).isEqualTo(0xeb7923c5e50be2f6L);
        assertThat(longs[128]).isEqualTo(0xe8200c3c8d4e0e63L);
        assertThat(longs[257]).isEqualTo(0x2b8d5fad63a09e74L);
    }

    @Test
    void aBoundedNumberIsTheUpperBitsThatFit() {
        // Given
        SeedStream random = countingSeed();

        // Then: 0xdbf3… and 0xeb79… both begin with the bits 11, which is 3 and does not fit; 0x7b68… begins with 01
        assertThat(random.nextLong(3)).isEqualTo(1);
        assertThat(random.nextLong()).isEqualTo(0xe0b2812f18b9bb0aL);
    }

    @Test
    void aBoundOfOneTakesNothing() {
        // Given
        SeedStream random = countingSeed();

        // Then
        assertThat(random.nextLong(1)).isZero();
        assertThat(random.nextLong()).isEqualTo(0xdbf30740646738b2L);
    }

    @ParameterizedTest
    @ValueSource(longs = {2, 3, 5, 6, 7, 64, 65, 100})
    void everyNumberBelowTheBoundIsAsLikely(long bound) {
        // Given
        SeedStream random = new SeedStream(FeasibleTerms.seed(bound));
        long[] seen = new long[(int) bound];

        // When
        int draws = 100_000;
        for (int i = 0; i < draws; i++) {
            seen[(int) random.nextLong(bound)]++;
        }

        // Then
        double[] expected = IntStream.range(0, (int) bound)
                .mapToDouble(i -> (double) draws / bound)
                .toArray();
        Fit.assertFits(seen, expected, "bound " + bound);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, (1L << 62) + 1, Long.MAX_VALUE})
    void aBoundOutOfRangeIsRefused(long bound) {
        SeedStream random = countingSeed();
        assertThatThrownBy(() -> random.nextLong(bound)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 16, 24, 31, 33})
    void aSeedOfAnotherLengthIsRefused(int length) {
        assertThatThrownBy(() -> new SeedStream(new byte[length]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a seed has 32 bytes, not " + length);
    }
}
