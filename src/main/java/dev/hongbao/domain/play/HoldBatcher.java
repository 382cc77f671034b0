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
 * The first step of a play: the cost is held, or of a free draw it is only looked whether the request was played before. One
 * instance per event loop, used on it only; what many wait for is gathered over the whole server.
 */
final class HoldBatcher {
    private final GatheredHolds gathered;
    private final AttemptSettings settings;
    private int waiting;

    HoldBatcher(GatheredHolds gathered, AttemptSettings settings) {
        this.gathered = gathered;
        this.settings = settings;
    }

    /** What the database said of a request; see {@code hold_plays}. */
    enum Status {
        HELD,
        SETTLED,
        REUSED,
        POOR,
        REFUSED,
        FROZEN,
        BLOCKED,
        /** The draw is not there: a restored backup may lack it. */
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
     * Holds the cost of a request, or looks whether a free one was played. A free request is its own only attempt: the script
     * decides it once in a generation, and what an earlier one decided is settled, so it is found here.
     *
     * @param now whose day's limit counts
     * @return fails with {@link UnavailableException} when too many wait; any other failure means that it may be held
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

    /** Requests of this event loop that wait. */
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
