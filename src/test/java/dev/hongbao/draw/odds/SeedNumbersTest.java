package dev.hongbao.draw.odds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Numbers of a fixed seed, computed by another program. When this test fails, draws that exist could not be replayed any more: do not adapt
 * the numbers.
 */
class SeedNumbersTest {
    private static final UUID TURN = UUID.fromString("01939d1e-8c00-8000-8000-000000000001");

    /** Of the seed 00 01 02 … 1f. */
    private final Seed.Numbers chance = new Seed.Numbers(seed());

    private static byte[] seed() {
        byte[] seed = new byte[32];
        for (int i = 0; i < seed.length; i++) {
            seed[i] = (byte) i;
        }
        return seed;
    }

    private long[] numbers(int count) {
        return LongStream.generate(chance::next).limit(count).toArray();
    }

    @Test
    void eachListHasItsOwnNumbersHoweverManyAreTakenOfAnother() {
        for (int round = 0; round < 2; round++) {
            chance.beginPlay(TURN, 0);
            assertThat(numbers(6))
                    .containsExactly(
                            1459775274115874L,
                            2352047509458780L,
                            765891207816530L,
                            1781268758348948L,
                            2924482586156677L,
                            3811844645357442L);
            chance.beginPlay(TURN, 9);
            assertThat(numbers(2)).containsExactly(1221956315122906L, 3266306324058954L);
            chance.beginMoments(3, 1);
            assertThat(numbers(2)).containsExactly(925738880119593L, 2881805834373169L);
        }
    }

    @Test
    void withoutAListThereIsNoNumber() {
        assertThatThrownBy(chance::next).isInstanceOf(IllegalStateException.class);
    }
}
