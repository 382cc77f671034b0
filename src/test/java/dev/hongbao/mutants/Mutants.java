package dev.hongbao.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Plants every defect of {@code mutants.txt}, one at a time, and says which test found it. It is named so that no build runs it:
 * {@code ./mvnw -q test -Dtest=Mutants}, and with {@code -Dmutants=claim} only those in whose name or file that stands; several parts with commas between them.
 */
class Mutants {
    @Test
    void run() throws Exception {
        List<String> wanted = List.of(System.getProperty("mutants", "").split(","));
        List<MutantRun.Result> missed = new ArrayList<>();
        for (Mutant mutant : Mutant.all()) {
            if (wanted.stream().anyMatch(part -> (mutant.name() + " " + mutant.file()).contains(part))) {
                MutantRun.Result result = MutantRun.of(mutant);
                System.out.println(result);
                if (result.verdict() != MutantRun.Verdict.CAUGHT) {
                    missed.add(result);
                }
            }
        }
        assertThat(missed).isEmpty();
    }
}
