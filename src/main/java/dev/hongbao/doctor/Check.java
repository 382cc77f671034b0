package dev.hongbao.doctor;

import dev.hongbao.doctor.Check.Diagnosis.Severity;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All checks of this machine, the stores and a running server. Each names where it runs (the start, {@code /health/ready}, {@code doctor}), its effect
 * there, and the section of the runbook with the remedy. A start's findings name the option and the remedy themselves.
 *
 * <p>{@code /health/ready} runs only checks whose failure makes every answer of this server impossible. A mere warning never takes it out of the
 * balancer.
 */
public enum Check {
    // This machine
    LISTENS(Start.REFUSES),
    LISTENS_TO_ALL(Start.WARNS),
    CLEAR_TEXT(Start.WARNS),
    FILE(Start.REFUSES),
    FILE_PERMISSIONS(Start.WARNS),
    OPEN_FILES(Start.WARNS),
    DISK_FULL(Severity.BAD, "the-disk-is-nearly-full"),
    DISK(Severity.WARN, "the-disk-is-nearly-full"),
    CLOCKS(Severity.WARN, "the-clocks-differ"),

    // The other servers of the database
    FOREIGN_KEYS(Start.REFUSES),
    OTHER_KEYS(Start.WARNS),

    // A server at work
    SERVER(Severity.BAD, "a-server-does-not-answer"),
    STAYING("staying", Severity.WARN, "a-server-does-not-answer"),
    LOOP("", Severity.BAD, "an-event-loop-hangs"),
    SHARDS("shards", Severity.BAD, "a-shard-has-no-owner"),
    UNSETTLED(Severity.BAD, "claims-are-not-settled"),
    QUEUE(Severity.BAD, "a-queue-is-nearly-full"),
    VOIDS(Severity.WARN, "accepted-claims-were-void"),
    ASIDE(Severity.WARN, "something-is-set-aside"),
    WEBHOOK_FAILS(Severity.WARN, "a-webhook-fails"),
    WEBHOOK_BEHIND(Severity.WARN, "a-webhook-is-behind"),
    MONTHS(Severity.WARN, "a-month-has-no-part"),
    BOOKS(Severity.BAD, "the-books-break-a-rule"),
    BOOKS_UNCHECKED(Severity.WARN, "the-books-were-not-checked"),

    // Redis
    REDIS(Start.REFUSES, "redis", Severity.BAD, "redis-does-not-answer"),
    REDIS_MASTER(Start.WARNS),
    REDIS_COMMANDS(Start.REFUSES, null, Severity.BAD, "redis-is-not-set-up-for-this"),
    REDIS_KIND(Start.REFUSES, null, Severity.BAD, "redis-is-not-set-up-for-this"),
    REDIS_EVICTS(Start.REFUSES, null, Severity.BAD, "redis-is-not-set-up-for-this"),
    REDIS_MAY_EVICT(Start.WARNS, null, Severity.WARN, "redis-is-not-set-up-for-this"),
    REDIS_FORGETS(Start.WARNS, null, Severity.WARN, "redis-is-not-set-up-for-this"),
    REDIS_COVERAGE(Start.REFUSES, null, Severity.BAD, "redis-is-not-set-up-for-this"),
    REDIS_COVERAGE_UNTOLD(Start.WARNS, null, Severity.WARN, "redis-is-not-set-up-for-this"),
    REDIS_LINE(Start.WARNS, null, Severity.WARN, "redis-is-not-set-up-for-this"),
    REDIS_WRITES(Severity.BAD, "redis-does-not-answer"),
    REDIS_MEMORY(Severity.BAD, "the-memory-of-redis-is-nearly-full"),
    ANOTHER_REDIS(Severity.BAD, "redis-is-not-set-up-for-this"),

    // Postgres
    POSTGRES(Start.REFUSES, "postgres", Severity.BAD, "postgres-does-not-answer"),
    POSTGRES_SETTINGS(Start.REFUSES, null, Severity.BAD, "postgres-needs-attention"),
    POSTGRES_JIT(Start.WARNS, null, Severity.WARN, "postgres-needs-attention"),
    POSTGRES_CONNECTIONS(Start.WARNS),
    POSTGRES_CHECKSUMS(Severity.WARN, "postgres-needs-attention"),
    POSTGRES_USE(Severity.WARN, "postgres-needs-attention"),

    /** No problem: further lines of {@code doctor}. */
    WELL(Severity.WELL, "");

    enum Start {
        NOT_ASKED,
        WARNS,
        REFUSES
    }

    final Start start;

    /** Its name in {@code /health/ready}; null if it does not run there. */
    public final @Nullable String ready;

    /** Its severity in {@code doctor}; null if it does not run there. */
    final @Nullable Severity doctor;

    /** The anchor of a heading in the guide's runbook; empty if the diagnosis has the remedy, or without a problem. */
    final String section;

    Check(Start start) {
        this(start, null, null, "");
    }

    Check(Severity doctor, String section) {
        this(Start.NOT_ASKED, null, doctor, section);
    }

    Check(String ready, Severity doctor, String section) {
        this(Start.NOT_ASKED, ready, doctor, section);
    }

    Check(Start start, @Nullable String ready, @Nullable Severity doctor, String section) {
        this.start = start;
        this.ready = ready;
        this.doctor = doctor;
        this.section = section;
    }

    /** @param name in {@code /health/ready}; an unknown name belongs to an event loop */
    static Check ofReady(String name) {
        Optional<Check> named =
                Stream.of(values()).filter(check -> name.equals(check.ready)).findFirst();
        return named.orElse(LOOP);
    }

    /** @param text the option's path, if there is one, the problem and the remedy; without secrets */
    public Diagnosis found(String text) {
        return new Diagnosis(this, text);
    }

    /**
     * A finding.
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

        public Severity severity() {
            return Objects.requireNonNull(check.doctor);
        }

        /** The anchor of a heading in the guide's runbook; empty without a problem. */
        public String section() {
            return check.section;
        }
    }
}
