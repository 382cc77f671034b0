package dev.hongbao.domain.play;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.Reason;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.domain.draw.Draw;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.draw.DrawKeys;
import dev.hongbao.domain.draw.Play;
import dev.hongbao.domain.ledger.Verdict;
import dev.hongbao.domain.play.HoldBatcher.Hold;
import dev.hongbao.domain.play.PlayBatcher.Answer;
import dev.hongbao.domain.play.PlayOutcome.Kind;
import dev.hongbao.engine.admission.AdmissionControl;
import dev.hongbao.engine.journal.Attempt;
import dev.hongbao.engine.journal.ScriptBatcher;
import dev.hongbao.engine.shard.Generation;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One request, from the early answers through the hold of its cost to its outcome. Confined to its event loop. */
final class PlayAttempt extends Attempt<PlayAttempt.AttemptKey, SettledPlayRequest, PlayOutcome> {

    /** An attempt of a request. */
    record AttemptKey(UUID request, UUID attempt, DrawId draw) {
        static AttemptKey of(SettledPlayRequest request) {
            return new AttemptKey(request.request(), request.attempt(), request.draw());
        }
    }

    private final PlayService plays;
    private final Caller caller;
    private final Draw draw;
    private final PlayRequest request;
    private final AdmissionControl.Entry entry;
    private @Nullable Held held;

    /**
     * The script's input.
     *
     * @param generation the latest one before Postgres reported the attempt as undecided
     */
    private record Held(UUID attempt, Generation generation) {}

    PlayAttempt(PlayService plays, Caller caller, Draw draw, PlayRequest request, long deadlineNanos) {
        super(plays.vertx, plays.shards, plays.quarantine, plays.waiters, deadlineNanos);
        this.plays = plays;
        this.caller = caller;
        this.draw = draw;
        this.request = request;
        this.entry = plays.gate.entry(draw.shard());
    }

    @Override
    protected UUID unit() {
        return draw.id().value();
    }

    @Override
    protected String key(Generation generation) {
        return DrawKeys.hash(generation, draw.id());
    }

    @Override
    protected Future<Boolean> exists() {
        return plays.draws.exists(draw.id());
    }

    @Override
    protected PlayOutcome notFound() {
        return PlayOutcome.refused(Kind.NOT_FOUND);
    }

    Future<PlayOutcome> begin() {
        return start().onComplete(done -> entry.arrived());
    }

    /** Answers early, or holds the cost and calls the script. */
    private Future<PlayOutcome> start() {
        Kind refusal = refusal();
        if (refusal == Kind.NOT_OPEN_YET) {
            return refused(refusal);
        }
        if (refusal == Kind.NOT_ELIGIBLE) {
            return refusedUnlessPlayed(refusal);
        }
        if (isSetAside()) {
            // A settled play stands. A held cost waits for an operator.
            return unlessPlayed(() -> Future.failedFuture(UnavailableException.setAside()));
        }
        if (refusal != null) {
            return refusedUnlessPlayed(refusal);
        }
        UnavailableException refused = entry.ask(waiters().isFull(plays.waiting()));
        if (refused != null) {
            return Future.failedFuture(refused);
        }
        Generation before = generation(draw.shard());
        return inTime(plays.holds.submit(draw, request, plays.clock.instant())).compose(hold -> held(hold, before));
    }

    /** For a user or group under a restriction: a settled play stands, and a held one will be decided. */
    Future<PlayOutcome> beginRestricted(RefusedException restricted) {
        return unlessDecided(() -> Future.failedFuture(restricted));
    }

    private @Nullable Kind refusal() {
        Instant now = plays.clock.instant();
        if (!isInGroup() || !draw.definition().admits(caller.user())) {
            return Kind.NOT_ELIGIBLE;
        }
        if (!now.isBefore(draw.closesAt())) {
            return Kind.CLOSED;
        }
        return draw.opensAfter(now) ? Kind.NOT_OPEN_YET : null;
    }

    /** An earlier play gets the same answer, also after the draw's end. */
    private Future<PlayOutcome> unlessPlayed(Supplier<Future<PlayOutcome>> otherwise) {
        return inTime(plays.requests.played(List.of(request.id()))).compose(found -> {
            List<Play> plays = found.get(request.id());
            if (plays == null) {
                return otherwise.get();
            }
            return plays.size() == request.plays() ? played(plays, Kind.ALREADY_PLAYED) : Future.failedFuture(reused());
        });
    }

    /** A cost held in time may be accepted but not settled. The draw's close decides it at the latest. */
    private Future<PlayOutcome> refusedUnlessPlayed(Kind refusal) {
        return unlessDecided(() -> refused(refusal));
    }

    private Future<PlayOutcome> unlessDecided(Supplier<Future<PlayOutcome>> otherwise) {
        return unlessPlayed(() -> inTime(plays.requests.isHeld(request.id()))
                .compose(held -> held
                        ? Future.failedFuture(UnavailableException.unknown(Text.of("unavailable.deciding")))
                        : otherwise.get()));
    }

    private Future<PlayOutcome> refused(Kind refusal) {
        return Future.succeededFuture(
                refusal == Kind.NOT_ELIGIBLE
                        ? new PlayOutcome(refusal, List.of(), isInGroup() ? Reason.USER : Reason.GROUP)
                        : PlayOutcome.refused(refusal));
    }

    private boolean isInGroup() {
        var group = draw.definition().group();
        return group == null || caller.isMemberOf(group);
    }

    /** @param generation the latest one before the call of Postgres */
    private Future<PlayOutcome> held(Hold hold, Generation generation) {
        return switch (hold.status()) {
            case HELD -> {
                held = new Held(hold.attempt(), generation);
                yield attempt();
            }
            case SETTLED -> refusedUnlessPlayed(Kind.CLOSED);
            case REUSED -> Future.failedFuture(reused());
            case POOR ->
                Future.failedFuture(new RefusedException(Refusal.INSUFFICIENT_FUNDS, Text.of("play.too-expensive")));
            case REFUSED -> refused(Objects.requireNonNull(hold.refusal()).kind());
            case FROZEN -> Future.failedFuture(Verdict.FROZEN.refusal());
            case BLOCKED -> Future.failedFuture(Verdict.BLOCKED.refusal());
            case UNKNOWN -> Future.failedFuture(UnavailableException.unknown(Text.of("draw.not-known")));
        };
    }

    private static RefusedException reused() {
        return new RefusedException(Refusal.IDEMPOTENCY_KEY_REUSED, Text.of("play.key-reused"));
    }

    /**
     * Calls the script with the held attempt. In a new generation Postgres is asked again first: Redis knows only the decisions of its own
     * generation.
     */
    @Override
    protected Future<PlayOutcome> attempt() {
        Held now = Objects.requireNonNull(held);
        return plays.batcher
                .submit(draw, request, now.attempt, now.generation, deadlineNanos())
                .transform(asked -> {
                    if (asked.succeeded()) {
                        return answered(now.attempt, asked.result());
                    }
                    return asked.cause() instanceof ScriptBatcher.LapsedException
                            ? again()
                            : Future.failedFuture(asked.cause());
                });
    }

    private Future<PlayOutcome> answered(UUID held, Answer answer) {
        entry.arrived();
        return switch (answer.verdict()) {
            case PLAYED -> await(held, answer, Kind.PLAYED);
            case DECIDED -> await(held, answer, Kind.ALREADY_PLAYED);
            case MISSING ->
                missing(
                        answer.generation(),
                        plays.draws
                                .end(draw.id())
                                .compose(end -> end == null || end.closedAt() == null
                                        ? Future.succeededFuture()
                                        : refusedUnlessPlayed(Kind.CLOSED)));
            case REFUSED -> refusedOnceReturned(held, answer);
        };
    }

    /** A refusal is answered after the return of its held cost. */
    private Future<PlayOutcome> refusedOnceReturned(UUID held, Answer answer) {
        return draw.definition().cost() == null
                ? refused(Objects.requireNonNull(answer.refusal()).kind())
                : await(held, answer, Kind.ALREADY_PLAYED);
    }

    /**
     * Holds the cost again first. If Postgres stepped back, the hold is lost, and an attempt without one would be void in every generation.
     */
    @Override
    protected Future<PlayOutcome> again() {
        return start();
    }

    private Future<PlayOutcome> await(UUID held, Answer answer, Kind kind) {
        return await(
                new AttemptKey(request.id(), held, draw.id()),
                answer.generation(),
                answer.verdict() != PlayBatcher.Verdict.DECIDED,
                settled -> settled(settled, kind));
    }

    private Future<PlayOutcome> settled(SettledPlayRequest settled, Kind kind) {
        String reason = settled.reason();
        if (reason != null) {
            PlayRefusal refusal = PlayRefusal.of(reason);
            return refusal == null
                    ? Future.failedFuture(UnavailableException.unknown(Text.of("play.given-up")))
                    : refused(refusal.kind());
        }
        return played(settled.plays(), kind);
    }

    private Future<PlayOutcome> played(List<Play> plays, Kind kind) {
        return plays.size() == request.plays()
                ? Future.succeededFuture(new PlayOutcome(kind, plays))
                : Future.failedFuture(reused());
    }
}
