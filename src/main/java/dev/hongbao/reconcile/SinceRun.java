package dev.hongbao.reconcile;

import java.util.List;
import java.util.stream.Stream;

/**
 * A run from the checkpoint.
 *
 * @param findings of every check
 * @param after the checkpoint at its start: an id of transfers
 * @param upTo the new checkpoint; the old one after a violation
 * @param leftOut items too large for it, left to a full run; a line each
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
