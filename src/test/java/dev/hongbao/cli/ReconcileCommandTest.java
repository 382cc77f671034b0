package dev.hongbao.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReconcileCommandTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        0 | 0 | 0 | 0 | 3 checks, no violation
        0 | 0 | 2 | 0 | 3 checks, no violation, 2 that the next recovery heals
        0 | 1 | 2 | 4 | 3 checks, no violation, 1 quarantined, 2 that the next recovery heals
        1 | 1 | 0 | 1 | 3 checks, 1 violations, 1 quarantined
        """)
    void theWorstFindingDecidesTheExitCode(int violations, int quarantined, int healing, int exit, String said) {
        List<Finding> findings = List.of(
                finding(Severity.VIOLATION, violations),
                finding(Severity.QUARANTINED, quarantined),
                finding(Severity.HEALS, healing));
        assertThat(ReconcileCommand.exitCode(findings)).isEqualTo(exit);
        assertThat(ReconcileCommand.summary(findings)).isEqualTo(said);
    }

    private static Finding finding(Severity severity, int lines) {
        return new Finding(
                "I1",
                "a rule",
                severity,
                Stream.generate(() -> "a line").limit(lines).toList());
    }
}
