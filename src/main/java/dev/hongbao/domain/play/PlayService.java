package dev.hongbao.domain.play;

import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.domain.draw.Draw;
import dev.hongbao.domain.draw.DrawCatalog;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.draw.DrawStore;
import dev.hongbao.domain.play.HoldBatcher.Hold;
import dev.hongbao.domain.play.PlayBatcher.Answer;
import dev.hongbao.domain.play.PlayOutcome.Kind;
import dev.hongbao.engine.journal.Quarantine;
import dev.hongbao.engine.journal.SettlementWaiters;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Plays of draws. One instance per event loop; call it on that loop only. */
public final class PlayService {
    private static final long RETRY_MILLIS = 20;

    private final Vertx vertx;
    private final DrawCatalog catalog;
    private final DrawStore draws;
    private final PlayRequestStore requests;
    private final Shards shards;
    private final Quarantine quarantine;
    private final HoldBatcher holds;
    private final PlayBatcher batcher;
    private final SettlementWaiters<PlayAttempt, SettledPlayRequest> waiters;
    private final PlaySettings settings;
    private final PlayMetrics metrics;
    private final Clock clock;

    /** A try of a request. */
    private record PlayAttempt(UUID request, UUID attempt, DrawId draw) {}

    /**
     * @param redis a link of this event loop
     * @param clock decides which day it is and which prizes are due: Postgres' clock, as this server knows it
     */
    public PlayService(
            Vertx vertx,
            RedisLink redis,
            Pool pool,
            Shards shards,
            Quarantine quarantine,
            DrawCatalog catalog,
            DrawStore draws,
            PlaySettings settings,
            PlayMetrics metrics,
            Clock clock) {
        this.vertx = vertx;
        this.catalog = catalog;
        this.draws = draws;
        this.requests = new PlayRequestStore(pool, catalog);
        this.shards = shards;
        this.quarantine = quarantine;
        this.settings = settings;
        this.metrics = metrics;
        this.clock = clock;
        this.holds = new HoldBatcher(pool, settings, metrics);
        this.batcher = new PlayBatcher(vertx, redis, shards, settings, metrics, clock);
        this.waiters = new SettlementWaiters<>(
                vertx, shards, settings.maxUnsettled(), this::decided, metrics::settledAfter, System::nanoTime);
        vertx.eventBus()
                .<SettledPlayRequests>localConsumer(
                        SettledPlayRequests.ADDRESS,
                        settled -> settled.body()
                                .requests()
                                .forEach(request -> waiters.settled(
                                        new PlayAttempt(request.request(), request.attempt(), request.draw()),
                                        request)));
        vertx.eventBus()
                .<Quarantine.Changed>localConsumer(
                        Quarantine.Changed.ADDRESS,
                        changed -> waiters.refuse(
                                attempt -> changed.body().added().contains(attempt.draw.value()),
                                UnavailableException.setAside()));
    }

    private Future<Map<PlayAttempt, SettledPlayRequest>> decided(Collection<PlayAttempt> attempts) {
        return requests.decided(attempts.stream().map(PlayAttempt::request).toList())
                .map(found -> {
                    Map<PlayAttempt, SettledPlayRequest> decided = new HashMap<>();
                    found.values()
                            .forEach(request -> decided.put(
                                    new PlayAttempt(request.request(), request.attempt(), request.draw()), request));
                    return decided;
                });
    }

    /** Requests in flight on this event loop. */
    public int inFlight() {
        return holds.waiting() + batcher.waiting() + waiters.waiting();
    }

    /**
     * Plays, once or up to ten times as one. Idempotent by (caller, draw, key): every later answer equals the first settled
     * one. A key is bound by success only.
     *
     * @param plays 1 to 10
     * @return the settled outcome; refused with INSUFFICIENT_FUNDS or IDEMPOTENCY_KEY_REUSED; fails with {@link
     *     UnavailableException} when the outcome is not known in time: the same key then tells it, and what was held of the cost
     *     is counted or given back
     */
    public Future<PlayOutcome> play(Caller caller, DrawId id, int plays, IdempotencyKey key) {
        if (plays < 1 || plays > PlayRequest.MAX_PLAYS) {
            return Future.failedFuture(new RefusedException(
                    Refusal.INVALID, "Play from 1 to " + PlayRequest.MAX_PLAYS + " times at once."));
        }
        Round round = new Round(caller, PlayRequest.of(id, caller.user(), key, plays));
        catalog.find(id).onFailure(round::fail).onSuccess(draw -> {
            if (draw == null && quarantine.holds(id.value())) {
                round.fail(UnavailableException.setAside());
            } else if (draw == null) {
                round.finish(PlayOutcome.refused(Kind.NOT_FOUND));
            } else {
                round.begin(draw);
            }
        });
        return round.outcome.future();
    }

    /** One request on its way. */
    private final class Round {
        private final Caller caller;
        private final PlayRequest request;
        private final long deadlineNanos =
                System.nanoTime() + settings.timeout().toNanos();
        private final Promise<PlayOutcome> outcome = Promise.promise();

        Round(Caller caller, PlayRequest request) {
            this.caller = caller;
            this.request = request;
        }

        void finish(PlayOutcome known) {
            metrics.answered(known.kind());
            outcome.tryComplete(known);
        }

        void fail(Throwable fault) {
            boolean known = fault instanceof UnavailableException || fault instanceof RefusedException;
            outcome.tryFail(
                    known
                            ? fault
                            : UnavailableException.unknown(
                                    "The stores do not answer. Repeat the same request: it is not counted twice."));
        }

        void begin(Draw draw) {
            Kind refusal = refusal(draw);
            if (refusal == Kind.NOT_ELIGIBLE || refusal == Kind.NOT_OPEN_YET) {
                finish(PlayOutcome.refused(refusal));
            } else if (quarantine.holds(draw.id().value())) {
                refuseUnlessPlayed();
            } else if (refusal != null) {
                finishUnlessPlayed(refusal);
            } else if (waiters.isFull(holds.waiting() + batcher.waiting())) {
                fail(UnavailableException.overloaded("Plays come faster than they settle. Try again shortly."));
            } else {
                holds.submit(request).onFailure(this::fail).onSuccess(hold -> held(draw, hold));
            }
        }

        private @Nullable Kind refusal(Draw draw) {
            Instant now = clock.instant();
            var group = draw.definition().group();
            if ((group != null && !caller.isMemberOf(group))
                    || !draw.definition().admits(caller.user())) {
                return Kind.NOT_ELIGIBLE;
            }
            if (draw.opensAfter(now)) {
                return Kind.NOT_OPEN_YET;
            }
            return now.isBefore(draw.closesAt()) ? null : Kind.CLOSED;
        }

        /** Who played before gets the same answer, also when the draw is over. */
        private void finishUnlessPlayed(Kind refusal) {
            requests.decided(List.of(request.id())).onFailure(this::fail).onSuccess(found -> {
                SettledPlayRequest settled = found.get(request.id());
                if (settled == null || settled.plays().isEmpty()) {
                    finishUnlessHeld(refusal);
                } else {
                    settled(settled, Kind.ALREADY_PLAYED);
                }
            });
        }

        /** Of a draw that is set aside: what is settled stands, and what was held waits for an operator. */
        private void refuseUnlessPlayed() {
            requests.decided(List.of(request.id())).onFailure(this::fail).onSuccess(found -> {
                SettledPlayRequest settled = found.get(request.id());
                if (settled == null || settled.plays().isEmpty()) {
                    fail(UnavailableException.setAside());
                } else {
                    settled(settled, Kind.ALREADY_PLAYED);
                }
            });
        }

        /** What was held in time may be accepted and not settled yet; the close of the draw decides it at the latest. */
        private void finishUnlessHeld(Kind refusal) {
            requests.isHeld(request.id()).onFailure(this::fail).onSuccess(held -> {
                if (held) {
                    fail(UnavailableException.unknown("The draw is closing. Repeat the same request shortly."));
                } else {
                    finish(PlayOutcome.refused(refusal));
                }
            });
        }

        private void held(Draw draw, Hold hold) {
            switch (hold.status()) {
                case HELD -> race(draw, hold.attempt());
                case SETTLED -> finishUnlessPlayed(Kind.CLOSED);
                case REUSED -> fail(reused());
                case POOR ->
                    fail(new RefusedException(
                            Refusal.INSUFFICIENT_FUNDS, "The wallet holds less than the plays cost."));
                case CLOSED -> finish(PlayOutcome.refused(Kind.CLOSED));
            }
        }

        private static RefusedException reused() {
            return new RefusedException(
                    Refusal.IDEMPOTENCY_KEY_REUSED,
                    "This idempotency key was used for another number of plays. Use a new key for a new request.");
        }

        private void race(Draw draw, UUID attempt) {
            batcher.submit(draw, request, attempt, deadlineNanos)
                    .onFailure(this::fail)
                    .onSuccess(answer -> answered(draw, attempt, answer));
        }

        private void answered(Draw draw, UUID attempt, Answer answer) {
            boolean paid = draw.definition().cost() != null;
            switch (answer.verdict()) {
                case PLAYED -> await(draw, attempt, answer, Kind.PLAYED);
                case DECIDED -> await(draw, attempt, answer, Kind.ALREADY_PLAYED);
                case MISSING -> missing(draw, attempt, answer);
                default -> {
                    if (paid) {
                        await(draw, attempt, answer, Kind.ALREADY_PLAYED); // until the cost is back
                    } else {
                        finish(PlayOutcome.refused(refusalOf(answer.verdict())));
                    }
                }
            }
        }

        private void await(Draw draw, UUID attempt, Answer answer, Kind kind) {
            if (quarantine.holds(draw.id().value())) {
                fail(UnavailableException.setAside());
                return;
            }
            waiters.await(new PlayAttempt(request.id(), attempt, draw.id()), answer.generation(), deadlineNanos)
                    .onFailure(this::fail)
                    .onSuccess(settlement -> {
                        SettledPlayRequest settled = settlement.fact();
                        if (settled != null) {
                            settled(settled, kind);
                        } else {
                            // The generation that decided it is over: play in the next one. Postgres is asked again,
                            // since
                            // the cost is lost when it went back, and an attempt without one would be void for ever.
                            begin(draw);
                        }
                    });
        }

        private void settled(SettledPlayRequest settled, Kind kind) {
            if (settled.reason() != null) {
                String reason = Objects.requireNonNull(settled.reason());
                Kind refusal = refusalOf(reason);
                if (refusal == null) {
                    fail(UnavailableException.unknown("The play was given up and its cost returned. Try again."));
                } else {
                    finish(PlayOutcome.refused(refusal));
                }
            } else if (settled.plays().size() != request.plays()) {
                fail(reused());
            } else {
                finish(new PlayOutcome(kind, settled.plays()));
            }
        }

        /** Redis lacks the draw: it is over, or Redis lost it, or Postgres did. */
        private void missing(Draw draw, UUID attempt, Answer answer) {
            draws.closedAt(draw.id()).onFailure(this::fail).onSuccess(closed -> {
                if (closed != null) {
                    finishUnlessPlayed(Kind.CLOSED);
                } else if (System.nanoTime() - deadlineNanos > 0) {
                    fail(UnavailableException.unknown("The draw is being recovered. Repeat the same request shortly."));
                } else {
                    draws.exists(draw.id()).onFailure(this::fail).onSuccess(there -> {
                        if (there) {
                            report(draw, attempt, answer.generation());
                        } else {
                            finish(PlayOutcome.refused(Kind.NOT_FOUND));
                        }
                    });
                }
            });
        }

        private void report(Draw draw, UUID attempt, Generation generation) {
            shards.report(generation, generation.drawKey(draw.id().toString()))
                    .onComplete(reported -> vertx.setTimer(RETRY_MILLIS, later -> race(draw, attempt)));
        }
    }

    private static Kind refusalOf(PlayBatcher.Verdict verdict) {
        return switch (verdict) {
            case LIMIT -> Kind.LIMIT_REACHED;
            case DAILY_LIMIT -> Kind.DAILY_LIMIT_REACHED;
            case CLOSED -> Kind.CLOSED;
            default -> Kind.EXHAUSTED;
        };
    }

    /** A settled reason; null for one that is nobody's fault. */
    private static @Nullable Kind refusalOf(String reason) {
        return switch (reason) {
            case "limit" -> Kind.LIMIT_REACHED;
            case "day" -> Kind.DAILY_LIMIT_REACHED;
            case "exhausted" -> Kind.EXHAUSTED;
            case "closed" -> Kind.CLOSED;
            default -> null;
        };
    }
}
