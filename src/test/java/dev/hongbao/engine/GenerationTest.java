package dev.hongbao.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.util.JedisClusterCRC16;

class GenerationTest {
    /** So that a script may name them together, and what is outside of the generations goes where the shard goes. */
    @Test
    void allKeysOfAShardAreInOneSlotOfACluster() {
        Generation generation = new Generation("5f3a90c1", 3, 7, "ab12cd34ef56");
        Generation later = new Generation("5f3a90c1", 3, 8, "000000000000");
        assertThat(Stream.of(
                        generation.journalKey(),
                        generation.retiredJournalKey(),
                        generation.key("attempts"),
                        generation.key("p", "0190a1b2-0000-7000-8000-000000000000"),
                        generation.epochsKey(),
                        later.journalKey(),
                        Generation.shardPrefix("5f3a90c1", 3) + "installation"))
                .extracting(JedisClusterCRC16::getSlot)
                .containsOnly(JedisClusterCRC16.getSlot("5f3a90c1:3"));
    }
}
