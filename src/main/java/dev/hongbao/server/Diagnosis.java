package dev.hongbao.server;

import java.util.Objects;

/**
 * What a {@link Check} has to say.
 *
 * @param check what was looked at
 * @param text for the operator, without secrets
 */
public record Diagnosis(Check check, String text) {
    /** How bad it is; the worst first. */
    public enum Severity {
        /** Callers are refused, or soon will be: do it now. */
        BAD,
        /** It can wait for the morning. */
        WARN,
        /** As it should be. */
        WELL
    }

    static Diagnosis well(String text) {
        return Check.WELL.found(text);
    }

    /** The same, beginning with the option. */
    Diagnosis of(String option) {
        return check.found(option + ": " + text);
    }

    /** Whether the server does not start. */
    boolean refuses() {
        return check.start == Check.Start.REFUSES;
    }

    /** For who asks {@code doctor}. */
    public Severity severity() {
        return Objects.requireNonNull(check.doctor);
    }

    /** Of the guide's runbook, as its heading's anchor; empty for what is well. */
    public String section() {
        return check.section;
    }
}
