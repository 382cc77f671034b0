package dev.hongbao.packet.split;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Amounts of fixed seeds. When this test fails, stored packets would be split differently from how they were: do not
 * adapt the numbers, give the new way a new name or label.
 */
class SplitGoldenTest {
    @ParameterizedTest
    @CsvSource({
        "double-mean, 10000, 8, 1, 10000, '[1311, 1975, 2340, 1569, 419, 40, 919, 1427]'",
        "double-mean, 10000, 8, 100, 1400, '[1154, 1286, 1215, 1108, 1222, 1245, 1396, 1374]'",
        "inflate, 10000, 8, 1, 10000, '[1073, 1511, 1084, 1125, 1607, 503, 1786, 1311]'",
        "inflate, 10000, 8, 100, 1400, '[1246, 1389, 1211, 1056, 1284, 1237, 1311, 1266]'",
        "even-luck, 10000, 8, 1, 10000, '[2035, 551, 1738, 2191, 1384, 1323, 90, 688]'",
        "even-luck, 10000, 8, 100, 1400, '[1332, 1267, 1248, 1183, 1127, 1315, 1147, 1381]'",
        "even-luck, 12, 8, 1, 12, '[2, 1, 1, 1, 2, 2, 2, 1]'",
        // So tight that it is mixed, after 64 tries
        "even-luck, 180, 60, 1, 5, '[2, 3, 4, 1, 2, 3, 3, 1, 5, 3, 2, 1, 1, 2, 5, 4, 1, 5, 5, 2, 3, 2, 5, 5, 5, 3, 3, 2, 2, 1, 1, 5, 3, 4, 5, 1, 3, 4, 1, 3, 2, 3, 2, 2, 4, 3, 4, 5, 4, 2, 3, 4, 4, 4, 1, 1, 5, 3, 4, 4]'",
        "equal, 10000, 8, 1, 10000, '[1250, 1250, 1250, 1250, 1250, 1250, 1250, 1250]'",
    })
    void aSeedIsSplitAsEver(String algorithm, long total, int count, long min, long max, String amounts) {
        // Given: the seed 00 01 02 … 1f
        byte[] seed = new byte[32];
        for (int i = 0; i < seed.length; i++) {
            seed[i] = (byte) i;
        }
        SplitTerms terms = new SplitTerms(SplitAlgorithm.of(algorithm), total, count, min, max);

        // Then
        assertThat(Arrays.toString(Split.amounts(terms, seed))).isEqualTo(amounts);
    }
}
