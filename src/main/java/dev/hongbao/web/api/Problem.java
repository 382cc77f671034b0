package dev.hongbao.web.api;

import dev.hongbao.common.json.FieldFault;
import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.JsonText;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.TooManyCallsException;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.domain.claim.ClaimOutcome;
import dev.hongbao.domain.odds.DefinitionFaults;
import dev.hongbao.domain.play.PlayOutcome;
import dev.hongbao.engine.postgres.SqlState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A refusal as the client reads it: a problem document of RFC 9457.
 *
 * @param detail one or two sentences that say what to do; no internals, no secrets
 * @param faults where the input is wrong; empty for most types
 * @param retryAfterSeconds when the same call may be repeated, 1 or more; 0 when waiting does not help
 */
public record Problem(ProblemType type, String detail, List<FieldFault> faults, int retryAfterSeconds) {
    public Problem {
        faults = List.copyOf(faults);
    }

    /** A problem that is told in its type's own words. */
    public static Problem of(ProblemType type) {
        return of(type, type.advice());
    }

    /** A problem with a more exact detail. */
    public static Problem of(ProblemType type, String detail) {
        return new Problem(type, detail, List.of(), type.status() == 503 ? UnavailableException.SOON_SECONDS : 0);
    }

    /** A token that is not believed. @param why in words */
    public static Problem ofToken(String why) {
        return of(ProblemType.UNAUTHENTICATED, "Get a new token: " + why + ".");
    }

    /** Too many calls; {@code retryAfterSeconds} is 1 or more. */
    public static Problem tooMany(String detail, int retryAfterSeconds) {
        return new Problem(ProblemType.TOO_MANY_REQUESTS, detail, List.of(), retryAfterSeconds);
    }

    /**
     * The problem of a claim that was refused.
     *
     * @throws IllegalArgumentException for an outcome that has a claim
     */
    public static Problem of(ClaimOutcome.Kind refused) {
        return refused == ClaimOutcome.Kind.NOT_FOUND
                ? of(ProblemType.NOT_FOUND, "There is no such packet.")
                : of(ProblemType.of(refused));
    }

    /**
     * The problem of plays that were refused.
     *
     * @throws IllegalArgumentException for an outcome that has plays
     */
    public static Problem of(PlayOutcome.Kind refused) {
        return switch (refused) {
            case NOT_FOUND -> of(ProblemType.NOT_FOUND, "There is no such draw.");
            case NOT_ELIGIBLE ->
                of(
                        ProblemType.NOT_ELIGIBLE,
                        "Ask for a token that names the draw's group, or ask the host: a draw may be for some users only.");
            default -> of(ProblemType.of(refused));
        };
    }

    /**
     * The problem of a failed call.
     *
     * @return null for a failure that nobody foresaw: log it, and answer {@link ProblemType#INTERNAL_ERROR}
     */
    public static @Nullable Problem ofFailure(Throwable failure) {
        if (failure instanceof RefusedException refused) {
            return of(ProblemType.of(refused.refusal()), refused.detail()).withFaults(refused.places());
        }
        if (failure instanceof UnavailableException unavailable) {
            return new Problem(
                    ProblemType.of(unavailable.reason()),
                    unavailable.detail(),
                    List.of(),
                    unavailable.retryAfterSeconds());
        }
        if (failure instanceof TooManyCallsException tooMany) {
            return tooMany(tooMany.detail(), tooMany.retryAfterSeconds());
        }
        if (failure instanceof DefinitionFaults definition) {
            return of(ProblemType.INVALID_REQUEST)
                    .withFaults(definition.faults().stream()
                            .map(fault -> new FieldFault(fault.pointer(), fault.detail()))
                            .toList());
        }
        if (failure instanceof InvalidInputException invalid) {
            return of(invalid);
        }
        if (SqlState.isOutage(failure)) {
            return of(ProblemType.UNKNOWN, "The store does not answer. Repeat the same request shortly.");
        }
        return null;
    }

    /** The problem that an input is which breaks the contract. */
    public static Problem of(InvalidInputException invalid) {
        ProblemType type = invalid.isMalformedJson() ? ProblemType.MALFORMED_JSON : ProblemType.INVALID_REQUEST;
        FieldFault first = invalid.faults().get(0);
        return of(type, sentence(first, first.detail(), ".")).withFaults(invalid.faults());
    }

    /** The same problem with the places of the faults. */
    public Problem withFaults(List<FieldFault> places) {
        return new Problem(type, detail, places, retryAfterSeconds);
    }

    /** The document, {@code application/problem+json}, in the reader's language; its type and pointers are the same in each. */
    public String toJson(Language language) {
        JsonText json = new JsonText(256)
                .beginObject()
                .field("type", type.uri())
                .field("title", language.say(type.title()))
                .field("status", type.status())
                .field("detail", detail(language));
        if (!faults.isEmpty()) {
            json.name("errors").beginArray();
            for (FieldFault fault : faults) {
                json.beginObject()
                        .field("pointer", fault.pointer())
                        .field("detail", language.say(fault.detail()))
                        .endObject();
            }
            json.endArray();
        }
        return json.endObject().toString();
    }

    private String detail(Language language) {
        FieldFault first = faults.isEmpty() ? null : faults.get(0);
        return first != null && detail.equals(sentence(first, first.detail(), "."))
                ? sentence(first, language.say(first.detail()), language.say("."))
                : language.say(detail);
    }

    private static String sentence(FieldFault fault, String words, String end) {
        return fault.pointer() + " " + words + end;
    }
}
