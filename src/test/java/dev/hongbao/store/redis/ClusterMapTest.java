package dev.hongbao.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.util.JedisClusterCRC16;

class ClusterMapTest {
    /** Examples of the Redis Cluster specification. */
    @ParameterizedTest
    @CsvSource({"123456789, 12739", "foo, 12182", "{foo}.bar, 12182", "a{foo}{bar}, 12182"})
    void theHashTagAloneDecides(String key, int slot) {
        assertThat(ClusterMap.slotOf(key)).isEqualTo(slot);
    }

    @ParameterizedTest
    @CsvSource({"foo{}{bar}", "{", "}{", "{}", "foo{bar", "foo}bar{baz}", "x{{bar}}y"})
    void oddBracesAreReadAsByOtherClients(String key) {
        assertThat(ClusterMap.slotOf(key)).isEqualTo(JedisClusterCRC16.getSlot(key));
    }

    @Test
    void manyKeysAreFoundWhereOtherClientsFindThem() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 1_000; i++) {
            String key = random.ints(random.nextInt(1, 40), 33, 0x500)
                    .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                    .toString();
            assertThat(ClusterMap.slotOf(key)).as("seed %d, %s", seed, key).isEqualTo(JedisClusterCRC16.getSlot(key));
        }
    }
}
