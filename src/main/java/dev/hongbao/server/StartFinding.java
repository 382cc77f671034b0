package dev.hongbao.server;

/**
 * What a check at the start has to say.
 *
 * @param refuses whether the server does not start; else it starts and warns
 * @param text begins with the option's path; what is wrong, and what to change; without secrets
 */
record StartFinding(boolean refuses, String text) {
    static StartFinding refuse(String text) {
        return new StartFinding(true, text);
    }

    /** The same, beginning with the option. */
    StartFinding of(String option) {
        return new StartFinding(refuses, option + ": " + text);
    }

    static StartFinding warn(String text) {
        return new StartFinding(false, text);
    }
}
