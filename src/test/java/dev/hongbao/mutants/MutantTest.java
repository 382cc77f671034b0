package dev.hongbao.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every defect of the list can still be planted, and a sample of those that a test without stores finds is found. */
class MutantTest {
    private static final int SAMPLE = 3;

    static Stream<Mutant> all() throws IOException {
        return Mutant.all().stream();
    }

    @ParameterizedTest
    @MethodSource("all")
    void itsTextIsThereAndSoAreItsTests(Mutant mutant) throws IOException {
        assertThat(mutant.planted()).isNotEqualTo(Files.readString(mutant.source()));
        for (String test : mutant.tests()) {
            String[] parts = test.split("#", 2);
            String source = Files.readString(Mutant.testSource(parts[0]));
            assertThat(parts.length < 2 || source.contains("void " + parts[1] + "() "))
                    .as(test)
                    .isTrue();
        }
    }

    @Test
    void thereAreSixtyAtLeastEachWithANameOfItsOwn() throws IOException {
        assertThat(all().map(Mutant::name).distinct().count())
                .isGreaterThanOrEqualTo(60)
                .isEqualTo(all().count());
    }

    @Test
    void sampledOnesAreCaught() throws Exception {
        long seed = Long.getLong("mutants.seed", System.nanoTime() & 0xffffff);
        System.out.println("mutants of seed " + seed);
        List<Mutant> cheap = new ArrayList<>(all().filter(Mutant::isCheap).toList());
        Collections.shuffle(cheap, new Random(seed));

        for (Mutant mutant : cheap.subList(0, SAMPLE)) {
            MutantRun.Result result = MutantRun.of(mutant);
            assertThat(result.verdict()).as("seed " + seed + ": " + result).isEqualTo(MutantRun.Verdict.CAUGHT);
        }
    }
}
