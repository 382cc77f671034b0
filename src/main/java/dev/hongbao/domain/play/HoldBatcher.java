package dev.hongbao.domain.play;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.domain.draw.Draw;
import dev.hongbao.engine.journal.AttemptSettings;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The first step of a play: holds its cost. For a free draw, it only looks for earlier plays of the request. One instance per event loop,
 * used on it only. Statements are shared by all loops of the server.
 */
final class HoldBatcher {
    private final GatheredHolds gathered;
    private final AttemptSettings settings;
    private int waiting;

    HoldBatcher(GatheredHolds gathered, AttemptSettings settings) {
        this.gathered = gathered;
        this.settings = settings;
    }

    /** The result of {@code hold_plays} for a request. */
    enum Status {
        HELD,
        SETTLED,
        REUSED,
        POOR,
        REFUSED,
        FROZEN,
        BLOCKED,
        /** The draw does not exist, as after a restored backup. */
        UNKNOWN
    }

    /**
     * The answer.
     *
     * @param attempt for the script, when HELD
     * @param refusal when REFUSED, else null
     */
    record Hold(Status status, UUID attempt, @Nullable PlayRefusal refusal) {}

    /**
     * Holds the cost of a request, or looks for an earlier play of a free one. A free request has one attempt, itself: the script decides
     * it once in a generation, and earlier generations' decisions are settled, so this finds them.
     *
     * @param now gives the day of the limits
     * @return fails with {@link UnavailableException} when too many wait; after any other failure the cost may be held
     */
    Future<Hold> submit(Draw draw, PlayRequest request, Instant now) {
        if (waiting >= settings.maxQueued()) {
            return Future.failedFuture(
                    UnavailableException.overloaded(Text.of("overloaded.waiting", Text.of("noun.plays"))));
        }
        waiting++;
        Future<Hold> hold = draw.definition().cost() != null
                ? gathered.hold(draw.definition(), request, now)
                : gathered.played(request.id()).map(plays -> new Hold(status(request, plays), request.id(), null));
        return hold.andThen(done -> waiting--);
    }

    /** The number of this event loop's requests that wait. */
    int waiting() {
        return waiting;
    }

    private static Status status(PlayRequest request, @Nullable Integer plays) {
        if (plays == null) {
            return Status.HELD;
        }
        return plays == request.plays() ? Status.SETTLED : Status.REUSED;
    }
}
