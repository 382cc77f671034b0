package dev.hongbao.http;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.hongbao.store.postgres.SqlState;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.Text;
import dev.hongbao.values.TooManyCallsException;
import dev.hongbao.values.UnavailableException;
import io.vertx.core.buffer.Buffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * A refusal as the client reads it: a problem document of RFC 9457.
 *
 * @param detail one or two sentences on what to do; no internals, no secrets
 * @param reason the cause within the type, for a client to branch on; null for a type with one cause
 * @param faults where the input is wrong; empty for most types
 * @param retryAfterSeconds when the same call may be repeated, 1 or more; 0 when waiting does not help
 */
public record Problem(
        ProblemType type, Text detail, @Nullable String reason, List<FieldFault> faults, int retryAfterSeconds) {
    public Problem {
        faults = List.copyOf(faults);
    }

    public static Problem of(ProblemType type) {
        return of(type, type.advice());
    }

    /** A problem with a more exact detail. */
    public static Problem of(ProblemType type, Text detail) {
        return new Problem(type, detail, null, List.of(), type.status() == 503 ? UnavailableException.SOON_SECONDS : 0);
    }

    /** One of a type's causes, with a more exact detail. */
    public static Problem of(ProblemType type, Reason reason, Text detail) {
        return of(type, detail).because(reason);
    }

    /** A refused token. @param fault its kind, as the contract names it @param why in words */
    public static Problem ofToken(String fault, Text why) {
        return new Problem(ProblemType.UNAUTHENTICATED, Text.of("token.new", why), fault, List.of(), 0);
    }

    /** Too many calls; {@code retryAfterSeconds} is 1 or more. @param reason the exceeded limit */
    public static Problem tooMany(Reason reason, Text detail, int retryAfterSeconds) {
        return new Problem(ProblemType.TOO_MANY_REQUESTS, detail, reason.wireName(), List.of(), retryAfterSeconds);
    }

    /** The refusal of a caller who may not. @param reason null if unknown @param group the text for a group that the token lacks */
    public static Problem notEligible(@Nullable Reason reason, Text group) {
        Text detail = reason == null
                ? ProblemType.NOT_ELIGIBLE.advice()
                : switch (reason) {
                    case GROUP -> group;
                    case RECIPIENT -> Text.of("not-eligible.recipient");
                    case TRAIT -> Text.of("not-eligible.trait");
                    default -> Text.of("not-eligible.user");
                };
        return of(ProblemType.NOT_ELIGIBLE, detail).because(reason);
    }

    /**
     * The problem of a failed call.
     *
     * @return null for an unexpected failure: log it, and answer {@link ProblemType#INTERNAL_ERROR}
     */
    public static @Nullable Problem ofFailure(Throwable failure) {
        if (failure instanceof RefusedException refused) {
            return of(ProblemType.of(refused.refusal()), refused.detail())
                    .because(refused.reason())
                    .withFaults(refused.places());
        }
        if (failure instanceof UnavailableException unavailable) {
            return new Problem(
                    ProblemType.of(unavailable.reason()),
                    unavailable.detail(),
                    null,
                    List.of(),
                    unavailable.retryAfterSeconds());
        }
        if (failure instanceof TooManyCallsException tooMany) {
            return tooMany(tooMany.reason(), tooMany.detail(), tooMany.retryAfterSeconds());
        }
        if (failure instanceof InvalidInputException invalid) {
            return of(invalid);
        }
        if (SqlState.isOutage(failure)) {
            return of(ProblemType.UNKNOWN, Text.of("unavailable.store"));
        }
        return null;
    }

    public static Problem of(InvalidInputException invalid) {
        ProblemType type = invalid.isMalformedJson() ? ProblemType.MALFORMED_JSON : ProblemType.INVALID_REQUEST;
        FieldFault first = invalid.faults().get(0);
        return of(type, Text.of("field.fault", first.pointer(), first.detail())).withFaults(invalid.faults());
    }

    public Problem withFaults(List<FieldFault> places) {
        return new Problem(type, detail, reason, places, retryAfterSeconds);
    }

    /** A copy with a cause; null for none. */
    public Problem because(@Nullable Reason cause) {
        return new Problem(type, detail, cause == null ? null : cause.wireName(), faults, retryAfterSeconds);
    }

    /** The document, {@code application/problem+json}, in the reader's language; its type and pointers are the same in each. */
    public String toJson(Language language) {
        JsonText json = new JsonText(256)
                .beginObject()
                .field("type", type.uri())
                .field("title", language.say(type.title()))
                .field("status", type.status())
                .field("detail", language.say(detail));
        if (reason != null) {
            json.plain("reason", reason);
        }
        if (!faults.isEmpty()) {
            json.objects(
                    "errors",
                    faults,
                    (out, fault) ->
                            out.field("pointer", fault.pointer()).field("detail", language.say(fault.detail())));
        }
        return json.endObject().toString();
    }

    /** A problem rendered in one language. A cache keeps the latest documents, because a crowd gets the same refusal. Immutable. */
    public static final class Told {
        /** Half a megabyte. Problems that name places in an input seldom repeat, and are not cached. */
        private static final int MOST_KEPT = 500;

        private static final LoadingCache<Key, Told> KEPT = Caffeine.newBuilder()
                .maximumSize(MOST_KEPT)
                .executor(Runnable::run)
                .build(Told::new);

        private final Buffer document;
        private final String withRetry;

        private record Key(Problem problem, Language language) {}

        private Told(Key key) {
            String json = key.problem.toJson(key.language);
            int retry = key.problem.retryAfterSeconds();
            this.document = Buffer.buffer(json);
            this.withRetry =
                    retry == 0 ? json : json.substring(0, json.length() - 1) + ",\"retryAfterSeconds\":" + retry + "}";
        }

        public static Told of(Problem problem, Language language) {
            Key key = new Key(problem, language);
            return problem.faults().isEmpty() ? KEPT.get(key) : new Told(key);
        }

        /** The document, {@code application/problem+json}. Nobody may write to it. */
        public Buffer document() {
            return document;
        }

        /** The document for a WebSocket, which has no headers: adds {@code retryAfterSeconds} where waiting helps. */
        public String withRetry() {
            return withRetry;
        }
    }

    /**
     * Logs unexpected faults, one line each. Many requests may meet the same fault, so its stack trace is logged once a minute per
     * kind: exception class and origin. Thread-safe.
     */
    public static final class FaultLog {
        private static final long TRACE_EVERY_NANOS = TimeUnit.MINUTES.toNanos(1);

        /** Kinds kept; at more, all are forgotten and traced again. */
        private static final int MAX_KINDS = 200;

        private final Logger log;
        private final LongSupplier nanoTime;
        private final Map<String, Long> tracedNanos = new HashMap<>();

        /** @param nanoTime as {@link System#nanoTime} */
        public FaultLog(Logger log, LongSupplier nanoTime) {
            this.log = log;
            this.nanoTime = nanoTime;
        }

        /** @param the failed operation with its ids, some of which a client may have chosen */
        public void failed(String what, Throwable fault) {
            String line = (what + ": " + fault).replaceAll("\\p{Cc}+", " ");
            if (isTraced(fault)) {
                log.error("{}", line, fault);
            } else {
                log.error("{}", line);
            }
        }

        private synchronized boolean isTraced(Throwable fault) {
            StackTraceElement[] stack = fault.getStackTrace();
            if (stack.length == 0) {
                return false; // one that carries none
            }
            if (tracedNanos.size() >= MAX_KINDS) {
                tracedNanos.clear();
            }
            String kind = fault.getClass().getName() + " " + stack[0];
            long now = nanoTime.getAsLong();
            Long before = tracedNanos.get(kind);
            if (before != null && now - before < TRACE_EVERY_NANOS) {
                return false;
            }
            tracedNanos.put(kind, now);
            return true;
        }
    }
}
