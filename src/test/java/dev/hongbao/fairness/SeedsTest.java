package dev.hongbao.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.odds.Seed;
import dev.hongbao.packet.Packet.Commitment;
import org.junit.jupiter.api.Test;

/** What seeds and commitments are made of: 32 bytes that nobody sees by accident, and nothing else. */
class SeedsTest {
    @Test
    void aSeedHas32BytesOfItsOwn() {
        byte[] bytes = new byte[32];
        Seed seed = new Seed(bytes);
        bytes[0] = 1;
        seed.toBytes()[1] = 1;

        assertThat(seed.toBytes()).isEqualTo(new byte[32]);
        assertThat(seed.hex()).isEqualTo("00".repeat(32));
        for (int length : new int[] {0, 31, 33}) {
            assertThatThrownBy(() -> new Seed(new byte[length])).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void aSeedDoesNotPrintItself() {
        assertThat(new Seed(new byte[32])).hasToString("a seed");
    }

    @Test
    void aCommitmentHasAVersionAndADigest() {
        String digest = "0123456789abcdef".repeat(4);

        assertThat(new Commitment(1, digest).digest()).isEqualTo(digest);
        assertThatThrownBy(() -> new Commitment(0, digest)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Commitment(1, digest.substring(1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Commitment(1, digest.replace('a', 'A')))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
