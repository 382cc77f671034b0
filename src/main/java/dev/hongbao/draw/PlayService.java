package dev.hongbao.draw;

import dev.hongbao.access.Restrictions;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.draw.Play.PlayOutcome.Kind;
import dev.hongbao.draw.Play.SettledPlays;
import dev.hongbao.draw.PlayBatcher.Answer;
import dev.hongbao.draw.PlayRequestStore.AttemptKey;
import dev.hongbao.draw.PlayRequestStore.Hold;
import dev.hongbao.engine.AdmissionControl;
import dev.hongbao.engine.Attempts;
import dev.hongbao.engine.Attempts.Attempt;
import dev.hongbao.engine.Generation;
import dev.hongbao.engine.ScriptBatcher;
import dev.hongbao.engine.SettlementWaiters;
import dev.hongbao.engine.Settlements;
import dev.hongbao.ledger.Ledger.Verdict;
import dev.hongbao.values.Caller;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Plays of draws. One instance per event loop; call it on that loop only.
 *
 * <p>A request that can settle in time is <em>admitted</em>, and its cost is held. With a decision of {@code play.lua} it is
 * <em>accepted</em>, and with Postgres' commit <em>settled</em>. Then the caller is <em>answered</em>. The script's verdict decides.
 *
 * <table>
 * <caption>From the script's verdict to the answer</caption>
 * <tr><th>verdict</th><th>outcome</th><th>answer</th></tr>
 * <tr><td>PLAYED</td><td>PLAYED</td><td>201 once settled</td></tr>
 * <tr><td>DECIDED</td><td>ALREADY_PLAYED, or the refusal that returned the cost</td><td>200, 409 or 410 once settled</td></tr>
 * <tr><td>REFUSED</td><td>EXHAUSTED, LIMIT_REACHED, DAILY_LIMIT_REACHED, CLOSED</td><td>409 or 410, once a held cost is
 * returned</td></tr>
 * <tr><td>MISSING</td><td>CLOSED or NOT_FOUND; else the key is reported, the request repeated</td><td>410, 404, or 503 at the
 * deadline</td></tr>
 * </table>
 */
public final class PlayService {
    private final Attempts attempts;
    private final DrawCatalog catalog;
    private final DrawStore draws;
    private final PlayRequestStore requests;
    private final Restrictions restrictions;
    private final PlayMetrics metrics;
    private final Settlements<SettledPlays> settlements;
    private final PlayBatcher batcher;
    private final SettlementWaiters<AttemptKey, SettledPlays.Request> waiters;
    private final AdmissionControl.Gate gate;
    private int holding; // requests that wait for their hold

    /**
     * @param attempts of this event loop; its clock decides the day and the due prizes
     * @param catalog the server's, as all that follow
     */
    PlayService(
            Attempts attempts,
            DrawCatalog catalog,
            DrawStore draws,
            PlayRequestStore requests,
            Restrictions restrictions,
            PlayMetrics metrics,
            PlayBatcher batcher,
            Settlements<SettledPlays> settlements) {
        this.attempts = attempts;
        this.catalog = catalog;
        this.draws = draws;
        this.requests = requests;
        this.restrictions = restrictions;
        this.metrics = metrics;
        this.settlements = settlements;
        this.batcher = batcher;
        this.waiters = attempts.waiters(key -> key.draw().value(), requests::decided, metrics.settling);
        waiters.listen(
                settlements,
                batcher::isUnanswered,
                settled -> settled.requests().forEach(request -> waiters.settled(AttemptKey.of(request), request)));
        this.gate = attempts.gate(waiters);
        metrics.inFlight.watch(this::inFlight);
    }

    /** The id of a key's request in {@link SettledPlays.Request}, on every server. */
    public static UUID requestOf(DrawId draw, UserId user, IdempotencyKey key) {
        return PlayRequest.of(draw, user, key, 1).id();
    }

    /** Publishes settled requests to this server's listeners. */
    public Settlements<SettledPlays> settlements() {
        return settlements;
    }

    /** Requests in flight on this event loop, including unsettled requests whose caller gave up. */
    public int inFlight() {
        return waiting() + waiters.waiting();
    }

    /** Requests that wait for their hold or for the script. */
    private int waiting() {
        return holding + batcher.waiting();
    }

    /**
     * Plays one to ten times, all or none. Idempotent by (caller, draw, key): every later answer equals the first settled one. Only a
     * success binds the key.
     *
     * @param plays 1 to 10
     * @return the settled outcome; refused with INSUFFICIENT_FUNDS, IDEMPOTENCY_KEY_REUSED, FROZEN, BLOCKED. Fails with {@link
     *     UnavailableException} when the outcome is not known in time. A later call with this key gives the outcome, and the held cost is
     *     then used or returned
     */
    public Future<PlayOutcome> play(Caller caller, DrawId id, int plays, IdempotencyKey key) {
        if (plays < 1 || plays > PlayRequest.MAX_PLAYS) {
            return Refusal.INVALID.failure(Text.of("play.times", PlayRequest.MAX_PLAYS));
        }
        PlayRequest request = PlayRequest.of(id, caller.user(), key, plays);
        return play(caller, request, attempts.deadlineNanos()).transform(done -> {
            if (done.failed()) {
                return Future.failedFuture(Attempt.orUnknown(done.cause()));
            }
            metrics.answered(done.result().kind());
            if (done.result().kind() == Kind.ALREADY_PLAYED) {
                key.repeats();
            }
            return Future.succeededFuture(done.result());
        });
    }

    private Future<PlayOutcome> play(Caller caller, PlayRequest request, long deadlineNanos) {
        return attempts.inTime(catalog.find(request.draw()), deadlineNanos).compose(draw -> {
            if (draw != null) {
                return new PlayAttempt(caller, draw, request, deadlineNanos).begin();
            }
            return attempts.refuses(request.draw().value())
                    ? Future.failedFuture(UnavailableException.setAside())
                    : Future.succeededFuture(PlayOutcome.refused(Kind.NOT_FOUND));
        });
    }

    /** One request, from the early answers through the hold of its cost to its outcome. */
    private final class PlayAttempt extends Attempt<PlayOutcome> {
        private final Caller caller;
        private final Draw draw;
        private final PlayRequest request;
        /** For the script, when the cost is held. */
        private @Nullable UUID held;
        /** The latest generation before Postgres reported the attempt as undecided. */
        private @Nullable Generation heldIn;

        PlayAttempt(Caller caller, Draw draw, PlayRequest request, long deadlineNanos) {
            super(attempts, gate.entry(draw.shard()), draw.id().value(), deadlineNanos);
            this.caller = caller;
            this.draw = draw;
            this.request = request;
        }

        @Override
        protected String key(Generation generation) {
            return DrawKeys.hash(generation, draw.id());
        }

        @Override
        protected Future<Boolean> exists() {
            return draws.sharedEnd(draw.id()).map(Objects::nonNull);
        }

        @Override
        protected PlayOutcome notFound() {
            return PlayOutcome.refused(Kind.NOT_FOUND);
        }

        /** For a user or group under a restriction: a settled play stands, and a held one will be decided. */
        Future<PlayOutcome> begin() {
            RefusedException restricted =
                    restrictions.ofPlay(caller.user(), draw.definition().group());
            return restricted == null
                    ? start().onComplete(done -> entry.arrived())
                            .recover(fault -> Future.failedFuture(trueFault(fault)))
                    : unlessDecided(() -> Future.failedFuture(restricted));
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
            UnavailableException refused = entry.admit(waiters.isFull(waiting() + gate.repeating()));
            return refused == null ? hold() : Future.failedFuture(refused);
        }

        private @Nullable Kind refusal() {
            Instant now = attempts.clock().instant();
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
            return inTime(requests.played(List.of(request.id()))).compose(found -> {
                List<Play> plays = found.get(request.id());
                return plays == null ? otherwise.get() : played(plays, Kind.ALREADY_PLAYED);
            });
        }

        /** A cost held in time may be accepted but not settled. The draw's close decides it at the latest. */
        private Future<PlayOutcome> refusedUnlessPlayed(Kind refusal) {
            return unlessDecided(() -> refused(refusal));
        }

        private Future<PlayOutcome> unlessDecided(Supplier<Future<PlayOutcome>> otherwise) {
            return unlessPlayed(() -> inTime(requests.isHeld(request.id()))
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

        private Future<PlayOutcome> hold() {
            Generation before = attempts.generation(draw.shard());
            if (holding >= attempts.limits().maxWaiting()) {
                return Future.failedFuture(
                        UnavailableException.overloaded(Text.of("overloaded.waiting", Text.of("noun.plays"))));
            }
            holding++;
            return inTime(requests.hold(draw, request, attempts.clock().instant())
                            .andThen(done -> holding--))
                    .compose(hold -> follow(hold, before));
        }

        private Future<PlayOutcome> follow(Hold hold, Generation before) {
            return switch (hold.status()) {
                case HELD -> {
                    held = hold.attempt();
                    heldIn = before;
                    mayBeDone |= draw.definition().cost() != null;
                    yield attempt();
                }
                case SETTLED -> refusedUnlessPlayed(Kind.CLOSED);
                case REUSED -> Future.failedFuture(reused());
                case POOR -> Refusal.INSUFFICIENT_FUNDS.failure(Text.of("play.too-expensive"));
                case REFUSED -> refused(Objects.requireNonNull(hold.refusal()));
                case FROZEN -> Future.failedFuture(Verdict.FROZEN.refusal());
                case BLOCKED -> Future.failedFuture(Verdict.BLOCKED.refusal());
                case UNKNOWN -> Future.failedFuture(UnavailableException.unknown(Text.of("draw.not-known")));
            };
        }

        private RefusedException reused() {
            return new RefusedException(Refusal.IDEMPOTENCY_KEY_REUSED, Text.of("play.key-reused"));
        }

        /**
         * Calls the script with the held attempt. In a new generation Postgres is asked again first: Redis knows only the decisions of its
         * own generation.
         */
        @Override
        protected Future<PlayOutcome> attempt() {
            UUID attempt = Objects.requireNonNull(held);
            return batcher.submit(draw, request, attempt, Objects.requireNonNull(heldIn), deadlineNanos)
                    .transform(asked -> {
                        if (asked.failed() && !(asked.cause() instanceof ScriptBatcher.LapsedException)) {
                            return Future.failedFuture(asked.cause());
                        }
                        mayBeDone = true;
                        return asked.succeeded() ? follow(asked.result(), attempt) : start();
                    });
        }

        private Future<PlayOutcome> follow(Answer answer, UUID attempt) {
            entry.arrived();
            return switch (answer.verdict()) {
                case PLAYED -> settled(answer, attempt, Kind.PLAYED);
                case DECIDED -> settled(answer, attempt, Kind.ALREADY_PLAYED);
                case REFUSED ->
                    draw.definition().cost() == null
                            ? refused(Objects.requireNonNull(answer.refusal()))
                            : settled(answer, attempt, Kind.ALREADY_PLAYED); // after the return of its held cost
                case MISSING ->
                    missing(
                            answer.generation(),
                            draws.sharedEnd(draw.id())
                                    .compose(end -> end == null || end.closedAt() == null
                                            ? Future.succeededFuture()
                                            : refusedUnlessPlayed(Kind.CLOSED)));
            };
        }

        /**
         * Awaits the settlement of a decided attempt. If its generation ends without one, holds the cost again first: if Postgres stepped
         * back, the hold is lost, and an attempt without one would be void in every generation.
         */
        private Future<PlayOutcome> settled(Answer answer, UUID attempt, Kind kind) {
            if (isSetAside()) {
                return Future.failedFuture(UnavailableException.setAside());
            }
            return waiters.await(
                            new AttemptKey(request.id(), attempt, draw.id()),
                            answer.generation(),
                            answer.verdict() != PlayBatcher.Verdict.DECIDED,
                            deadlineNanos)
                    .compose(settled -> settled == null ? start() : answer(settled, kind));
        }

        private Future<PlayOutcome> answer(SettledPlays.Request settled, Kind kind) {
            String reason = settled.reason();
            if (reason == null) {
                return played(settled.plays(), kind);
            }
            if (reason.equals(PlayRequestStore.OVERTAKEN)) {
                return start();
            }
            Kind refusal = Kind.ofWord(reason);
            return refusal == null
                    ? Future.failedFuture(UnavailableException.unknown(Text.of("play.given-up")))
                    : refused(refusal);
        }

        private Future<PlayOutcome> played(List<Play> plays, Kind kind) {
            return plays.size() == request.plays()
                    ? Future.succeededFuture(new PlayOutcome(kind, plays))
                    : Future.failedFuture(reused());
        }
    }
}
