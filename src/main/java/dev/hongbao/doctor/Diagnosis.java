package dev.hongbao.doctor;

import java.util.Objects;

/**
 * A finding of a {@link Check}.
 *
 * @param check the check that found it
 * @param text for the operator, without secrets
 */
public record Diagnosis(Check check, String text) {
    /** The urgency, the worst first. */
    public enum Severity {
        /** Callers are refused, or soon will be: act now. */
        BAD,
        /** Wait for the morning. */
        WARN,
        /** No action. */
        WELL
    }

    static Diagnosis well(String text) {
        return Check.WELL.found(text);
    }

    /** This finding with an option in front of its text. */
    Diagnosis of(String option) {
        return check.found(option + ": " + text);
    }

    /** Whether the server does not start. */
    public boolean refuses() {
        return check.start == Check.Start.REFUSES;
    }

    /** In {@code doctor}. */
    public Severity severity() {
        return Objects.requireNonNull(check.doctor);
    }

    /** The anchor of a heading in the guide's runbook; empty without a problem. */
    public String section() {
        return check.section;
    }
}
