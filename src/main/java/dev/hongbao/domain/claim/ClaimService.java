package dev.hongbao.domain.claim;

import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.domain.claim.ClaimOutcome.Kind;
import dev.hongbao.domain.packet.Claim;
import dev.hongbao.domain.packet.EndedPackets;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.domain.packet.PacketCatalog;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.domain.packet.PacketStore;
import dev.hongbao.domain.restriction.Restrictions;
import dev.hongbao.engine.admission.AdmissionControl;
import dev.hongbao.engine.journal.Attempt;
import dev.hongbao.engine.journal.Quarantine;
import dev.hongbao.engine.journal.SettlementWaiters;
import dev.hongbao.engine.journal.Settlements;
import dev.hongbao.engine.postgres.GatheredLookups;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Claims shares. One instance per event loop; call it on that loop only. */
public final class ClaimService {
    private static final Logger LOG = LoggerFactory.getLogger(ClaimService.class);

    // Each ClaimAttempt uses these
    final Vertx vertx;
    final Shards shards;
    final Quarantine quarantine;
    final SettlementWaiters<ClaimAttempt.Key, Claim> waiters;
    final AdmissionControl.Gate gate;
    final ClaimBatcher batcher;
    final PacketStore store;
    final PacketCatalog catalog;
    final EndedPackets ended;
    final GatheredLookups<ClaimAttempt.Key, Claim> lookups;
    final Restrictions restrictions;
    final PasscodeGuesses guesses;
    final RedisLinks redis;
    final ClaimMetrics metrics;
    final Clock clock;

    private final ClaimSettings settings;
    private final Settlements<SettledClaims> settlements;

    /**
     * @param redis the links of this event loop
     * @param restrictions the server's
     * @param guesses the server's
     * @param admission the server's
     * @param settlements the server's
     * @param clock for early refusals only; Postgres' clock decides what is due
     */
    public ClaimService(
            Vertx vertx,
            RedisLinks redis,
            Shards shards,
            Quarantine quarantine,
            PacketStore store,
            PacketCatalog catalog,
            EndedPackets ended,
            Restrictions restrictions,
            PasscodeGuesses guesses,
            AdmissionControl admission,
            ClaimSettings settings,
            ClaimMetrics metrics,
            Settlements<SettledClaims> settlements,
            Clock clock) {
        this.vertx = vertx;
        this.shards = shards;
        this.quarantine = quarantine;
        this.settlements = settlements;
        this.catalog = catalog;
        SettlementWaiters<ClaimAttempt.Key, Claim> waiters = new SettlementWaiters<>(
                vertx,
                shards,
                settings.attempts().maxUnsettled(),
                keys -> settledClaims(store, keys),
                metrics::settledAfter,
                System::nanoTime);
        waiters.refuseSetAside(vertx, key -> key.packet().value());
        this.waiters = waiters;
        this.batcher = new ClaimBatcher(vertx, redis, shards, settings.attempts(), metrics, clock);
        waiters.listen(
                settlements,
                batcher::isUnanswered,
                settled -> settled.claims().forEach(claim -> waiters.settled(ClaimAttempt.Key.of(claim), claim)));
        this.settings = settings;
        this.gate = admission.gate(waiters.unsettled(), waiters.settled());
        this.store = store;
        this.ended = ended;
        this.lookups = new GatheredLookups<>(keys -> settledClaims(store, keys));
        this.restrictions = restrictions;
        this.guesses = guesses;
        this.redis = redis;
        this.metrics = metrics;
        this.clock = clock;
        metrics.watch(this::inFlight);
    }

    private static Future<Map<ClaimAttempt.Key, Claim>> settledClaims(
            PacketStore store, Collection<ClaimAttempt.Key> keys) {
        return store.claims(
                        keys.stream().map(ClaimAttempt.Key::packet).toList(),
                        keys.stream().map(ClaimAttempt.Key::user).toList())
                .map(claims -> claims.stream().collect(Collectors.toMap(ClaimAttempt.Key::of, claim -> claim)));
    }

    /** Publishes settled claims to this server's listeners. */
    public Settlements<SettledClaims> settlements() {
        return settlements;
    }

    /** Claims in flight on this event loop: waiting for the script or for their settlement, including claims whose caller gave up. */
    public int inFlight() {
        return batcher.waiting() + waiters.waiting();
    }

    /**
     * Claims a share. Idempotent by (caller, packet): every later answer equals the first settled one (invariant I6).
     *
     * @param passcode the caller's text; null for none
     * @return both answers. They fail with {@link UnavailableException} when the outcome is not known in time, or too many claims wait
     */
    public ClaimAnswers claim(Caller caller, PacketId id, @Nullable String passcode) {
        return begin(caller, id, passcode, true);
    }

    /** As {@link #claim}, without waiting for the settlement. Returns the first answer only, and keeps no state afterwards. */
    public Future<ClaimOutcome> accept(Caller caller, PacketId id, @Nullable String passcode) {
        return begin(caller, id, passcode, false).accepted();
    }

    private ClaimAnswers begin(Caller caller, PacketId id, @Nullable String passcode, boolean awaitsSettlement) {
        long begunNanos = System.nanoTime();
        ClaimAnswers answers = begin(
                caller,
                id,
                passcode,
                awaitsSettlement,
                begunNanos + settings.attempts().timeout().toNanos());
        if (!settings.slow().isZero()) {
            answers.settled().onComplete(done -> logIfSlow(id, done, System.nanoTime() - begunNanos));
        }
        return answers;
    }

    private void logIfSlow(PacketId id, AsyncResult<ClaimOutcome> done, long nanos) {
        if (nanos > settings.slow().toNanos()) {
            Packet packet = catalog.cached(id);
            LOG.warn(
                    "a claim took {} ms: packet {}, shard {}, {}",
                    nanos / 1_000_000,
                    id,
                    packet == null ? "unknown" : packet.shard(),
                    done.succeeded() ? done.result().kind() : done.cause().getMessage());
        }
    }

    private ClaimAnswers begin(
            Caller caller, PacketId id, @Nullable String passcode, boolean awaitsSettlement, long deadlineNanos) {
        Packet packet = catalog.cached(id);
        if (packet != null) {
            return new ClaimAttempt(this, caller, packet, passcode, awaitsSettlement, deadlineNanos).begin();
        }
        Future<@Nullable Packet> readable = catalog.find(id)
                .compose(found -> found == null && quarantine.refuses(id.value())
                        ? Future.failedFuture(UnavailableException.setAside()) // its terms cannot be read
                        : Future.succeededFuture(found));
        Future<ClaimAnswers> answers = Attempt.orUnknown(Attempt.inTime(readable, deadlineNanos))
                .onFailure(fault -> metrics.unknown())
                .map(found -> {
                    if (found == null) {
                        metrics.answered(Kind.NOT_FOUND);
                        return ClaimAnswers.of(ClaimOutcome.refused(Kind.NOT_FOUND));
                    }
                    return new ClaimAttempt(this, caller, found, passcode, awaitsSettlement, deadlineNanos).begin();
                });
        return new ClaimAnswers(answers.compose(ClaimAnswers::accepted), answers.compose(ClaimAnswers::settled));
    }
}
