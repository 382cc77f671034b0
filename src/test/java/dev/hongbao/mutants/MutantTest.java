package dev.hongbao.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every defect of the list can still be planted, and one of those that a test without stores finds is found. */
class MutantTest {
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
    void aSampledOneIsCaught() throws Exception {
        long seed = Long.getLong("mutants.seed", System.nanoTime() & 0xffffff);
        System.out.println("mutant of seed " + seed);
        List<Mutant> cheap = all().filter(Mutant::isCheap).toList();

        MutantRun.Result result = MutantRun.of(cheap.get(new Random(seed).nextInt(cheap.size())));

        assertThat(result.verdict()).as("seed " + seed + ": " + result).isEqualTo(MutantRun.Verdict.CAUGHT);
    }
}
