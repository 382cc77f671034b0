package dev.hongbao.server;

/**
 * What {@link Doctor} found.
 *
 * @param what one sentence for the operator
 * @param section of the guide's runbook, as its heading's anchor; empty for what is well
 */
public record Ailment(Severity severity, String what, String section) {
    /** The worst first. */
    public enum Severity {
        /** Callers are refused, or soon will be: do it now. */
        BAD,
        /** It can wait for the morning. */
        WARN,
        /** As it should be. */
        WELL
    }

    static Ailment bad(String what, String section) {
        return new Ailment(Severity.BAD, what, section);
    }

    static Ailment warn(String what, String section) {
        return new Ailment(Severity.WARN, what, section);
    }

    static Ailment well(String what) {
        return new Ailment(Severity.WELL, what, "");
    }
}
