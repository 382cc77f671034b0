package dev.hongbao.web.api;

import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.domain.claim.ClaimOutcome;
import dev.hongbao.domain.play.PlayOutcome;
import java.util.Locale;

/**
 * The one table of problem types: every refusal of every call, its name, its status and what the client is told. The names
 * and statuses are the contract's; {@code openapi.yaml} lists the same set.
 */
public enum ProblemType {
    DRAINED(410, "Every share is claimed", "Others were faster. GET the packet's claims to see who."),
    EXPIRED(
            410,
            "The packet is over",
            "Its time ran out, or it was ended early. What was left goes back to the sender: there is nothing to claim any more."),
    NOT_OPEN_YET(409, "Not open yet", "Try again at its opensAt; GET the packet or the draw tells it."),
    NOT_ELIGIBLE(
            403,
            "Not for this user",
            "Ask for a token that names the packet's group, or to be named as a recipient; a pool may ask for more in the token."),
    WRONG_PASSCODE(
            403, "The passcode is missing or wrong", "Claim again with {\"passcode\": …} as the sender said it."),
    NOT_FOUND(404, "Not found", "Check the id."),

    EXHAUSTED(
            410,
            "Nothing is left that the user may win",
            "Or less than the plays asked for: GET the draw, and ask for fewer."),
    LIMIT_REACHED(409, "The user has had all plays", "Or has fewer left than asked for; GET the draw tells how many."),
    DAILY_LIMIT_REACHED(
            409,
            "The user's daily limit is reached",
            "Try again tomorrow, in the time zone of the draw or the campaign."),
    CLOSED(410, "The draw is over", "GET the plays to see what was won."),

    LIMITED(
            409,
            "The user has had all shares that the campaign gives one user",
            "In all, today, or for this product: see what the campaign says of its limits."),
    CAMPAIGN_OVER(410, "The campaign is over", "Nobody opens a pool of it any more."),
    CAMPAIGN_PAUSED(409, "The campaign is paused", "Try again when its host has resumed it."),
    ALREADY_OPENED(409, "The user has opened a pool for this product", "Take another product."),
    BUDGET_SPENT(409, "The campaign's budget holds less than a pool", "The host may raise the budget."),

    UNKNOWN_ASSET(422, "Nobody declared the asset", "GET /v1/assets lists those there are; the backend declares more."),
    ASSET_DIFFERS(
            409,
            "The asset cannot be declared with these terms",
            "GET the asset: its scale is fixed, and its daily cap on a sender can be changed, but not removed."),
    ABOVE_CAP(422, "It is above the asset's cap", "GET the asset tells its caps; send less, or give a smaller max."),
    DAY_CAP_REACHED(
            409, "The sender's daily limit is reached", "Send less, or send tomorrow: a day ends at midnight UTC."),
    REFERENCE_USED(409, "The reference names another command", "Use another reference; references are unique here."),
    ALREADY_REVERSED(409, "The transfer is reversed", "A transfer is reversed once."),
    NOT_REVERSIBLE(
            409, "The transfer is not of a kind that is reversed", "Deposits, withdrawals, claims and awards are."),
    CLAIMED(409, "Somebody has claimed a share", "Close the packet instead: what is left goes back to the sender."),

    FROZEN(403, "The user is frozen", "What the user has stays, and deposits and refunds arrive; ask the host."),
    BLOCKED(403, "The user or the group is blocked", "Ask the host."),
    ARCHIVED(
            410,
            "It was archived with its month",
            "Nothing of it changes any more; who operates the server has its files."),

    INSUFFICIENT_FUNDS(402, "The wallet holds less than the amount", "Deposit first, then repeat with the same key."),
    IDEMPOTENCY_KEY_REUSED(
            422, "The idempotency key was used with another body", "Take a new Idempotency-Key for a new command."),
    INFEASIBLE(422, "The numbers do not fit together", "Choose amount, count, min and max so that a split exists."),
    BALANCE_LIMIT(422, "A balance would exceed its limit", "Move a smaller amount."),

    INVALID_REQUEST(
            400, "The request is not what the contract says", "See errors, and /openapi.yaml for what is allowed."),
    MALFORMED_JSON(400, "The body is not JSON that this server reads", "Send one JSON object in UTF-8; see errors."),
    IDEMPOTENCY_KEY_MISSING(
            400, "An Idempotency-Key header is needed", "Send a key of your own, 1 to 128 visible ASCII characters."),
    UNAUTHENTICATED(401, "A valid token is needed", "Send Authorization: Bearer <token>."),
    DEMO_OFF(404, "There is no demo login here", "Ask the host application for a token."),
    FORBIDDEN(403, "Not allowed", "Call with a token whose role is service."),
    NO_SUCH_PATH(404, "There is no such path", "See /docs for the calls there are."),
    METHOD_NOT_ALLOWED(405, "The path has no such method", "Use one of the methods in Allow."),
    REQUEST_TIMEOUT(408, "The request took too long to arrive", "Send the whole body at once."),
    PAYLOAD_TOO_LARGE(413, "The body is too large", "Send less."),
    URI_TOO_LONG(414, "The request line is too long", "Send a shorter path and query."),
    UNSUPPORTED_MEDIA_TYPE(
            415, "The body's type is not supported", "Send Content-Type: application/json, without Content-Encoding."),
    TOO_MANY_REQUESTS(429, "Too many calls", "Wait as long as Retry-After says."),
    HEADER_TOO_LARGE(431, "The header is too large", "Send fewer or shorter header fields."),
    INTERNAL_ERROR(500, "Something is wrong with this server", "Report it; repeating may help."),
    UNKNOWN(503, "The outcome is not known yet", "Repeat the same call after Retry-After; it is safe."),
    OVERLOADED(503, "Too much work is waiting", "Nothing was done. Repeat the same call after Retry-After."),
    SET_ASIDE(503, "It is set aside", "An operator is to look at it; its money is kept. Try again later."),
    STOPPING(503, "This server is stopping", "Nothing was done. Repeat the same call; another server may answer it.");

    /** Where problem types live. It names them; nothing needs to be fetched from it. */
    public static final String BASE = "https://hongbao.dev/problems/";

    private final int status;
    private final String title;
    private final String advice;
    private final String wireName;

    ProblemType(int status, String title, String advice) {
        this.status = status;
        this.title = title;
        this.advice = advice;
        this.wireName = name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The name at the end of {@link #uri}: {@code not-open-yet} and so on. */
    public String wireName() {
        return wireName;
    }

    /** The problem's {@code type}. */
    public String uri() {
        return BASE + wireName();
    }

    /** The HTTP status. */
    public int status() {
        return status;
    }

    /** The same for every problem of this type. */
    public String title() {
        return title;
    }

    /** What to do, when nothing more exact is known. */
    public String advice() {
        return advice;
    }

    /**
     * The type of a claim's refusal.
     *
     * @throws IllegalArgumentException for an outcome that has a claim, and so is no problem
     */
    public static ProblemType of(ClaimOutcome.Kind kind) {
        return switch (kind) {
            case DRAINED -> DRAINED;
            case EXPIRED -> EXPIRED;
            case NOT_OPEN_YET -> NOT_OPEN_YET;
            case NOT_ELIGIBLE -> NOT_ELIGIBLE;
            case WRONG_PASSCODE -> WRONG_PASSCODE;
            case LIMITED -> LIMITED;
            case NOT_FOUND -> NOT_FOUND;
            case ACCEPTED, CLAIMED, ALREADY_CLAIMED -> throw new IllegalArgumentException(kind + " is no problem");
        };
    }

    /**
     * The type of a play's refusal.
     *
     * @throws IllegalArgumentException for an outcome that has plays, and so is no problem
     */
    public static ProblemType of(PlayOutcome.Kind kind) {
        return switch (kind) {
            case EXHAUSTED -> EXHAUSTED;
            case LIMIT_REACHED -> LIMIT_REACHED;
            case DAILY_LIMIT_REACHED -> DAILY_LIMIT_REACHED;
            case NOT_OPEN_YET -> NOT_OPEN_YET;
            case CLOSED -> CLOSED;
            case NOT_ELIGIBLE -> NOT_ELIGIBLE;
            case NOT_FOUND -> NOT_FOUND;
            case PLAYED, ALREADY_PLAYED -> throw new IllegalArgumentException(kind + " is no problem");
        };
    }

    /** The type of what cannot be answered now. */
    public static ProblemType of(UnavailableException.Reason reason) {
        return switch (reason) {
            case UNKNOWN -> UNKNOWN;
            case OVERLOADED -> OVERLOADED;
            case SET_ASIDE -> SET_ASIDE;
        };
    }

    /** The type of another command's refusal. */
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
            case ARCHIVED -> ARCHIVED;
        };
    }
}
