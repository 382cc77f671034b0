package dev.hongbao.domain.reconcile;

import java.util.List;
import java.util.stream.Stream;

/**
 * A run from the checkpoint.
 *
 * @param findings of every check that was made
 * @param after the checkpoint that it began from: an id of transfers
 * @param upTo the checkpoint that it has written; where it began when it found a violation
 * @param leftOut what is too large, and is left to the run that reads everything; a line each
 */
public record SinceRun(List<Finding> findings, long after, long upTo, List<String> leftOut) {
    public SinceRun {
        findings = List.copyOf(findings);
        leftOut = List.copyOf(leftOut);
    }

    SinceRun with(List<Finding> more) {
        return new SinceRun(Stream.concat(findings.stream(), more.stream()).toList(), after, upTo, leftOut);
    }
}
