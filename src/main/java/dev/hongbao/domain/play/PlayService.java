package dev.hongbao.domain.play;

import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.draw.DrawCatalog;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.draw.DrawStore;
import dev.hongbao.domain.play.PlayAttempt.AttemptKey;
import dev.hongbao.domain.play.PlayOutcome.Kind;
import dev.hongbao.domain.restriction.Restrictions;
import dev.hongbao.engine.admission.AdmissionControl;
import dev.hongbao.engine.journal.Attempt;
import dev.hongbao.engine.journal.AttemptSettings;
import dev.hongbao.engine.journal.Quarantine;
import dev.hongbao.engine.journal.SettlementWaiters;
import dev.hongbao.engine.journal.Settlements;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Clock;
import java.util.UUID;

/** Plays of draws. One instance per event loop; call it on that loop only. */
public final class PlayService {
    // Each PlayAttempt uses these
    final Vertx vertx;
    final Shards shards;
    final Quarantine quarantine;
    final SettlementWaiters<AttemptKey, SettledPlayRequest> waiters;
    final AdmissionControl.Gate gate;
    final HoldBatcher holds;
    final PlayBatcher batcher;
    final DrawStore draws;
    final PlayRequestStore requests;
    final Clock clock;

    private final DrawCatalog catalog;
    private final AttemptSettings settings;
    private final PlayMetrics metrics;
    private final Restrictions restrictions;
    private final Settlements<SettledPlayRequests> settlements;

    /**
     * @param redis the links of this event loop
     * @param admission the server's
     * @param settlements the server's
     * @param clock Postgres' clock as this server knows it; it decides the day and the due prizes
     */
    public PlayService(
            Vertx vertx,
            RedisLinks redis,
            Pool pool,
            Shards shards,
            Quarantine quarantine,
            DrawCatalog catalog,
            DrawStore draws,
            GatheredHolds holds,
            AdmissionControl admission,
            Restrictions restrictions,
            AttemptSettings settings,
            PlayMetrics metrics,
            Settlements<SettledPlayRequests> settlements,
            Clock clock) {
        this.vertx = vertx;
        this.shards = shards;
        this.settlements = settlements;
        this.catalog = catalog;
        this.requests = new PlayRequestStore(pool, catalog);
        this.draws = draws;
        this.quarantine = quarantine;
        this.restrictions = restrictions;
        this.settings = settings;
        this.metrics = metrics;
        this.holds = new HoldBatcher(holds, settings);
        this.batcher = new PlayBatcher(vertx, redis, shards, settings, metrics, clock);
        this.waiters = new SettlementWaiters<>(
                vertx, shards, settings.maxUnsettled(), requests::decided, metrics::settledAfter, System::nanoTime);
        waiters.listen(
                settlements,
                batcher::isUnanswered,
                settled -> settled.requests().forEach(request -> waiters.settled(AttemptKey.of(request), request)));
        waiters.refuseSetAside(vertx, attempt -> attempt.draw().value());
        this.gate = admission.gate(waiters.unsettled(), waiters.settled());
        this.clock = clock;
        metrics.watch(this::inFlight);
    }

    /** The id of a key's request in {@link SettledPlayRequest}, on every server. */
    public static UUID requestOf(DrawId draw, UserId user, IdempotencyKey key) {
        return PlayRequest.of(draw, user, key, 1).id();
    }

    /** Publishes settled requests to this server's listeners. */
    public Settlements<SettledPlayRequests> settlements() {
        return settlements;
    }

    /** Requests in flight on this event loop, including unsettled requests whose caller gave up. */
    public int inFlight() {
        return waiting() + waiters.waiting();
    }

    /** Requests that wait for their hold or for the script. */
    int waiting() {
        return holds.waiting() + batcher.waiting();
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
            return Future.failedFuture(
                    new RefusedException(Refusal.INVALID, Text.of("play.times", PlayRequest.MAX_PLAYS)));
        }
        long deadlineNanos = System.nanoTime() + settings.timeout().toNanos();
        PlayRequest request = PlayRequest.of(id, caller.user(), key, plays);
        Future<PlayOutcome> outcome = answer(caller, id, request, deadlineNanos).map(known -> {
            metrics.answered(known.kind());
            if (known.kind() == Kind.ALREADY_PLAYED) {
                key.repeats();
            }
            return known;
        });
        return Attempt.orUnknown(outcome);
    }

    private Future<PlayOutcome> answer(Caller caller, DrawId id, PlayRequest request, long deadlineNanos) {
        return Attempt.inTime(catalog.find(id), deadlineNanos).compose(draw -> {
            if (draw != null) {
                PlayAttempt attempt = new PlayAttempt(this, caller, draw, request, deadlineNanos);
                RefusedException restricted =
                        restrictions.ofPlay(caller.user(), draw.definition().group());
                return restricted == null ? attempt.begin() : attempt.beginRestricted(restricted);
            }
            return quarantine.refuses(id.value())
                    ? Future.failedFuture(UnavailableException.setAside())
                    : Future.succeededFuture(PlayOutcome.refused(Kind.NOT_FOUND));
        });
    }
}
