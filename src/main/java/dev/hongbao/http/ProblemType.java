package dev.hongbao.http;

import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UnavailableException;
import java.util.Locale;

/**
 * The one table of problem types: every refusal of every call, its name and its status. The names and statuses are the contract's;
 * {@code openapi.yaml} lists the same set. Each has a title and an advice in {@code problems/en.properties}.
 */
public enum ProblemType {
    DRAINED(410),
    EXPIRED(410),
    NOT_OPEN_YET(409),
    NOT_ELIGIBLE(403),
    WRONG_PASSCODE(403),
    NOT_FOUND(404),

    EXHAUSTED(410),
    LIMIT_REACHED(409),
    DAILY_LIMIT_REACHED(409),
    CLOSED(410),

    LIMITED(409),
    CAMPAIGN_OVER(410),
    CAMPAIGN_PAUSED(409),
    ALREADY_OPENED(409),
    BUDGET_SPENT(409),

    UNKNOWN_ASSET(422),
    ASSET_DIFFERS(409),
    ABOVE_CAP(422),
    DAY_CAP_REACHED(409),
    REFERENCE_USED(409),
    ALREADY_REVERSED(409),
    NOT_REVERSIBLE(409),
    CLAIMED(409),

    FROZEN(403),
    BLOCKED(403),

    INSUFFICIENT_FUNDS(402),
    IDEMPOTENCY_KEY_REUSED(422),
    INFEASIBLE(422),
    BALANCE_LIMIT(422),

    INVALID_REQUEST(400),
    MALFORMED_JSON(400),
    IDEMPOTENCY_KEY_MISSING(400),
    UNAUTHENTICATED(401),
    DEMO_OFF(404),
    FORBIDDEN(403),
    NO_SUCH_PATH(404),
    METHOD_NOT_ALLOWED(405),
    REQUEST_TIMEOUT(408),
    PAYLOAD_TOO_LARGE(413),
    URI_TOO_LONG(414),
    UNSUPPORTED_MEDIA_TYPE(415),
    TOO_MANY_REQUESTS(429),
    HEADER_TOO_LARGE(431),
    INTERNAL_ERROR(500),
    UNKNOWN(503),
    OVERLOADED(503),
    SET_ASIDE(503),
    STOPPING(503);

    /** Prefix of the problem types' URIs, which only name them; nothing is fetched. */
    public static final String BASE = "https://hongbao.dev/problems/";

    private final int status;
    private final String wireName;
    private final Text title;
    private final Text advice;

    ProblemType(int status) {
        this.status = status;
        this.wireName = name().toLowerCase(Locale.ROOT).replace('_', '-');
        this.title = Text.of(wireName + ".title");
        this.advice = Text.of(wireName + ".advice");
    }

    /** The name at the end of {@link #uri}: {@code not-open-yet} and so on. */
    public String wireName() {
        return wireName;
    }

    public String uri() {
        return BASE + wireName();
    }

    public int status() {
        return status;
    }

    public Text title() {
        return title;
    }

    /** The default advice to the caller. */
    public Text advice() {
        return advice;
    }

    public static ProblemType of(UnavailableException.Reason reason) {
        return switch (reason) {
            case UNKNOWN -> UNKNOWN;
            case OVERLOADED -> OVERLOADED;
            case SET_ASIDE -> SET_ASIDE;
        };
    }

    public static ProblemType of(Refusal refusal) {
        return switch (refusal) {
            case INSUFFICIENT_FUNDS -> INSUFFICIENT_FUNDS;
            case IDEMPOTENCY_KEY_REUSED -> IDEMPOTENCY_KEY_REUSED;
            case INFEASIBLE -> INFEASIBLE;
            case NOT_ELIGIBLE -> NOT_ELIGIBLE;
            case NOT_FOUND -> NOT_FOUND;
            case INVALID -> INVALID_REQUEST;
            case BALANCE_LIMIT -> BALANCE_LIMIT;
            case NOT_OPEN_YET -> NOT_OPEN_YET;
            case CAMPAIGN_OVER -> CAMPAIGN_OVER;
            case CAMPAIGN_PAUSED -> CAMPAIGN_PAUSED;
            case ALREADY_OPENED -> ALREADY_OPENED;
            case DAILY_LIMIT_REACHED -> DAILY_LIMIT_REACHED;
            case BUDGET_SPENT -> BUDGET_SPENT;
            case UNKNOWN_ASSET -> UNKNOWN_ASSET;
            case ASSET_DIFFERS -> ASSET_DIFFERS;
            case ABOVE_CAP -> ABOVE_CAP;
            case DAY_CAP_REACHED -> DAY_CAP_REACHED;
            case REFERENCE_USED -> REFERENCE_USED;
            case ALREADY_REVERSED -> ALREADY_REVERSED;
            case NOT_REVERSIBLE -> NOT_REVERSIBLE;
            case CLAIMED -> CLAIMED;
            case DRAW_CLOSED -> CLOSED;
            case FROZEN -> FROZEN;
            case BLOCKED -> BLOCKED;
        };
    }
}
