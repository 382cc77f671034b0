package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LookupsTest {
    private static final Generation STUCK = new Generation("test", 3, 1, "nonce");
    private static final Generation WELL = new Generation("test", 4, 1, "nonce");

    private final SettlementWaiters.Lookups<String> lookups = new SettlementWaiters.Lookups<>();

    private void wait(int count, Generation generation) {
        for (int i = 0; i < count; i++) {
            lookups.add(generation.shard() + "-" + i, generation);
        }
    }

    @Test
    void nobodyIsAskedForWhenNobodyWaits() {
        assertThat(lookups.chosen()).isEmpty();
    }

    @Test
    void aShardThatStandsStillKeepsNobodyOfAnotherFromBeingFound() {
        // Given many who wait for one shard, and some who came after them
        wait(10_000, STUCK);
        wait(3, WELL);

        // Then
        assertThat(lookups.chosen())
                .containsEntry("4-0", WELL)
                .containsEntry("4-2", WELL)
                .containsEntry("3-0", STUCK)
                .hasSize(256 + 3);
    }

    @Test
    void ofOneShardTheFirstAreAskedFor() {
        wait(10_000, STUCK);

        assertThat(lookups.chosen()).containsOnlyKeys(firsts()).hasSize(512);
    }

    private static String[] firsts() {
        String[] keys = new String[512];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = "3-" + i;
        }
        return keys;
    }
}
