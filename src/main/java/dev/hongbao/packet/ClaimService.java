package dev.hongbao.packet;

import dev.hongbao.access.Restrictions;
import dev.hongbao.engine.AdmissionControl;
import dev.hongbao.engine.Attempts;
import dev.hongbao.engine.Attempts.Attempt;
import dev.hongbao.engine.Attempts.LoopSum;
import dev.hongbao.engine.Generation;
import dev.hongbao.engine.SettlementWaiters;
import dev.hongbao.engine.Settlements;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Claim.Key;
import dev.hongbao.packet.Claim.SettledClaims;
import dev.hongbao.packet.ClaimBatcher.Answer;
import dev.hongbao.packet.ClaimBatcher.Verdict;
import dev.hongbao.packet.EndedPackets.EndedPacket;
import dev.hongbao.store.postgres.GatheredLookups;
import dev.hongbao.values.Caller;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.UnavailableException;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims shares. One instance per event loop; call it on that loop only.
 *
 * <p>A claim that can settle in time is <em>admitted</em>. With a slot from {@code claim.lua} it is <em>accepted</em>, and with Postgres'
 * commit <em>settled</em>. Then the caller is <em>answered</em>. The script's verdict decides.
 *
 * <table>
 * <caption>From the script's verdict to the answer</caption>
 * <tr><th>verdict</th><th>outcome</th><th>answer</th></tr>
 * <tr><td>GIVEN</td><td>ACCEPTED, then CLAIMED</td><td>202, or 201 once settled</td></tr>
 * <tr><td>HELD</td><td>ALREADY_CLAIMED; ACCEPTED while it is unsettled</td><td>200 once settled, or 202</td></tr>
 * <tr><td>DRAINED</td><td>DRAINED</td><td>410</td></tr>
 * <tr><td>CLOSED</td><td>EXPIRED</td><td>410</td></tr>
 * <tr><td>LIMITED_…</td><td>LIMITED, with its reason</td><td>409</td></tr>
 * <tr><td>UNCOUNTED</td><td>none: the key is reported, the claim repeated</td><td>503 at the deadline</td></tr>
 * <tr><td>MISSING</td><td>the ended packet's, or NOT_FOUND; else as UNCOUNTED</td><td>410, 200 or 404</td></tr>
 * </table>
 *
 * <p>A claim that is refused early, by the packet's terms, only asks the script for a slot that the user holds already.
 */
public final class ClaimService {
    private static final Logger LOG = LoggerFactory.getLogger(ClaimService.class);

    private final Attempts attempts;
    private final PacketStore store;
    private final PacketCatalog catalog;
    private final EndedPackets ended;
    private final Restrictions restrictions;
    private final PasscodeGuesses guesses;
    private final ClaimMetrics metrics;
    private final Settlements<SettledClaims> settlements;
    private final ClaimBatcher batcher;

    /** A lookup may have begun before this claim's settlement: null is no refusal. */
    private final GatheredLookups<Key, Claim> lookups = new GatheredLookups<>(this::settledClaims);

    /** Lookups that begin after their packet's end, when all its claims are settled. */
    private final GatheredLookups<Key, Claim> endedLookups = new GatheredLookups<>(this::settledClaims);

    private final SettlementWaiters<Key, Claim> waiters;
    private final AdmissionControl.Gate gate;

    /**
     * @param attempts of this event loop; its clock refuses early only, Postgres' clock decides what is due
     * @param store the server's, as all that follow
     */
    public ClaimService(
            Attempts attempts,
            PacketStore store,
            PacketCatalog catalog,
            EndedPackets ended,
            Restrictions restrictions,
            PasscodeGuesses guesses,
            ClaimMetrics metrics,
            Settlements<SettledClaims> settlements) {
        this.attempts = attempts;
        this.store = store;
        this.catalog = catalog;
        this.ended = ended;
        this.restrictions = restrictions;
        this.guesses = guesses;
        this.metrics = metrics;
        this.settlements = settlements;
        this.batcher = new ClaimBatcher(attempts, metrics);
        this.waiters = attempts.waiters(key -> key.packet().value(), this::settledClaims, metrics.settling);
        waiters.listen(
                settlements,
                batcher::isUnanswered,
                settled -> settled.claims().forEach(claim -> waiters.settled(claim.key(), claim)));
        this.gate = attempts.gate(waiters);
        metrics.inFlight.watch(this::inFlight);
    }

    private Future<Map<Key, Claim>> settledClaims(Collection<Key> keys) {
        return store.claims(keys).map(claims -> claims.stream().collect(Collectors.toMap(Claim::key, claim -> claim)));
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
     * @return the final outcome, never ACCEPTED. Fails with {@link UnavailableException} when it is not known in time, or too many
     *     claims wait
     */
    public Future<ClaimOutcome> claim(Caller caller, PacketId id, @Nullable String passcode) {
        return claim(caller, id, passcode, true, null);
    }

    /**
     * As {@link #claim(Caller, PacketId, String)}.
     *
     * @param accepted gets the accepted claim, at most once and before the outcome; not a claim that needs no settlement
     */
    public Future<ClaimOutcome> claim(Caller caller, PacketId id, @Nullable String passcode, Consumer<Claim> accepted) {
        return claim(caller, id, passcode, true, accepted);
    }

    /** As {@link #claim(Caller, PacketId, String)}, without waiting for the settlement: the outcome may be ACCEPTED. Keeps no state. */
    public Future<ClaimOutcome> accept(Caller caller, PacketId id, @Nullable String passcode) {
        return claim(caller, id, passcode, false, null);
    }

    private Future<ClaimOutcome> claim(
            Caller caller,
            PacketId id,
            @Nullable String passcode,
            boolean awaitsSettlement,
            @Nullable Consumer<Claim> accepted) {
        long deadlineNanos = attempts.deadlineNanos();
        Packet packet = catalog.cached(id);
        if (packet != null) {
            return new ClaimAttempt(caller, packet, passcode, awaitsSettlement, accepted, deadlineNanos).begin();
        }
        return attempts.inTime(catalog.find(id), deadlineNanos).transform(read -> {
            if (read.succeeded() && read.result() != null) {
                return new ClaimAttempt(caller, read.result(), passcode, awaitsSettlement, accepted, deadlineNanos)
                        .begin();
            }
            Future<ClaimOutcome> absent = read.failed()
                    ? Future.failedFuture(read.cause())
                    : attempts.refuses(id.value())
                            ? Future.failedFuture(UnavailableException.setAside()) // its terms cannot be read
                            : Future.succeededFuture(ClaimOutcome.refused(Kind.NOT_FOUND));
            return answer(absent, id, true, deadlineNanos);
        });
    }

    /**
     * The end of each claim: counts it, and logs a slow one. A fault becomes {@code unknown}.
     *
     * @param isAdmitted false if the gate has refused and counted it
     */
    private Future<ClaimOutcome> answer(
            AsyncResult<ClaimOutcome> done, PacketId id, boolean isAdmitted, long deadlineNanos) {
        ClaimOutcome outcome = done.result();
        Future<ClaimOutcome> answer = done.succeeded()
                ? Future.succeededFuture(outcome)
                : Future.failedFuture(Attempt.orUnknown(done.cause()));
        if (answer.succeeded()) {
            if (outcome.kind() != Kind.ACCEPTED) { // counted when the script gave it
                metrics.answered(outcome.kind());
            }
        } else if (isAdmitted && !(answer.cause() instanceof RefusedException)) {
            metrics.unknown.increment();
        }
        Attempts.Limits limits = attempts.limits();
        long nanos = attempts.nanos() - deadlineNanos + limits.timeout().toNanos();
        if (!limits.slow().isZero() && nanos > limits.slow().toNanos()) {
            Packet packet = catalog.cached(id);
            LOG.warn(
                    "a claim took {} ms: packet {}, shard {}, {}",
                    nanos / 1_000_000,
                    id,
                    packet == null ? "unknown" : packet.shard(),
                    answer.succeeded() ? outcome.kind() : answer.cause().getMessage());
        }
        return answer;
    }

    /** One claim, from the early answers to its outcome. */
    private final class ClaimAttempt extends Attempt<ClaimOutcome> {
        private final Caller caller;
        private final Packet packet;
        private final @Nullable String passcode;
        private final boolean awaitsSettlement;
        private final Key key;
        private final @Nullable RefusedException restricted;

        /** Null when it has got the accepted claim, or the claim is answered. */
        private @Nullable Consumer<Claim> accepted;

        ClaimAttempt(
                Caller caller,
                Packet packet,
                @Nullable String passcode,
                boolean awaitsSettlement,
                @Nullable Consumer<Claim> accepted,
                long deadlineNanos) {
            super(attempts, gate.entry(packet.shard()), packet.id().value(), deadlineNanos);
            this.caller = caller;
            this.packet = packet;
            this.passcode = passcode;
            this.awaitsSettlement = awaitsSettlement;
            this.accepted = accepted;
            this.key = new Key(packet.id(), caller.user());
            this.restricted = restrictions.ofClaim(
                    caller,
                    packet.group(),
                    packet.pool() == null ? null : packet.pool().claiming().members());
        }

        Future<ClaimOutcome> begin() {
            return start().transform(done -> {
                entry.arrived();
                accepted = null;
                return answer(
                        done.failed() ? Future.failedFuture(trueFault(done.cause())) : done,
                        packet.id(),
                        !entry.isRefused(),
                        deadlineNanos);
            });
        }

        @Override
        protected String key(Generation generation) {
            return PacketKeys.hash(generation, packet.id());
        }

        @Override
        protected Future<Boolean> exists() {
            return store.exists(packet.id());
        }

        @Override
        protected ClaimOutcome notFound() {
            return ClaimOutcome.refused(Kind.NOT_FOUND);
        }

        /**
         * Counts the passcode as a guess first, and refuses it beyond the packet's limit. A claim that is refused for another reason is no
         * guess: an outsider must not use up a packet's guesses.
         */
        private Future<ClaimOutcome> start() {
            if (packet.passcode() == null || passcode == null) {
                return attempt();
            }
            Kind refusal = refusal();
            if (refusal != null && refusal != Kind.WRONG_PASSCODE) {
                return attempt();
            }
            UnavailableException refused = admit();
            if (refused != null) {
                return Future.failedFuture(refused); // before any lookup, with a right or a wrong passcode
            }
            boolean isWrong = refusal == Kind.WRONG_PASSCODE;
            return guesses.guess(attempts.redis(), packet.id(), caller.user(), isWrong)
                    .compose(admitted -> attempt().onFailure(fault -> {
                        if (!isWrong) {
                            guesses.giveBack(attempts.redis(), packet.id(), caller.user());
                        }
                    }));
        }

        /** Gives the answers that need no Redis: from the terms, from settled facts, and from this server's clock for a refusal. */
        @Override
        protected Future<ClaimOutcome> attempt() {
            Kind refusal = refusal();
            if (refusal == Kind.NOT_OPEN_YET) {
                return refused(refusal);
            }
            if (isSetAside()) {
                return refusedUnlessWon(refusal);
            }
            EndedPacket over = ended.cached(packet.id());
            if (over != null) {
                return ended(over, refusal);
            }
            if (ended.isHinted(packet.id())) {
                return inTime(ended.find(packet.id()))
                        .compose(found -> found == null ? askScript(refusal) : ended(found, refusal));
            }
            return askScript(refusal);
        }

        /** The refusal by restrictions and the packet's terms; null if the claim may race. */
        private @Nullable Kind refusal() {
            if (restricted != null || packet.unfit(caller) != null) {
                return Kind.NOT_ELIGIBLE;
            }
            Instant now = attempts.clock().instant();
            if (packet.opensAfter(now)) {
                return Kind.NOT_OPEN_YET;
            }
            if (!now.isBefore(packet.expiresAt())) {
                return Kind.EXPIRED;
            }
            Passcode wanted = packet.passcode();
            return wanted == null || passcode != null && wanted.matches(packet.id(), passcode)
                    ? null
                    : Kind.WRONG_PASSCODE;
        }

        /** NOT_ELIGIBLE has its cause: the restriction, or the packet's term. */
        private Future<ClaimOutcome> refused(Kind refusal) {
            if (refusal != Kind.NOT_ELIGIBLE) {
                return Future.succeededFuture(ClaimOutcome.refused(refusal));
            }
            return restricted != null
                    ? Future.failedFuture(restricted)
                    : Future.succeededFuture(new ClaimOutcome(refusal, null, packet.unfit(caller)));
        }

        private Future<ClaimOutcome> refusedUnless(@Nullable Claim won, Kind refusal) {
            return won == null ? refused(refusal) : Future.succeededFuture(new ClaimOutcome(Kind.ALREADY_CLAIMED, won));
        }

        private Future<ClaimOutcome> ended(EndedPacket over, @Nullable Kind refusal) {
            Kind reason = refusal != null
                    ? refusal
                    : over.end().status() == PacketView.Status.DRAINED ? Kind.DRAINED : Kind.EXPIRED;
            var winners = over.winners();
            if (winners == null && over.mayHold(caller.user())) {
                // All its claims are settled, so Postgres has this one.
                return inTime(endedLookups.find(key)).compose(claim -> refusedUnless(claim, reason));
            }
            return refusedUnless(winners == null ? null : winners.get(caller.user()), reason);
        }

        private Future<@Nullable Claim> settledClaim() {
            return inTime(store.claim(packet.id(), caller.user()));
        }

        /**
         * For a packet set aside. A settled claim stands. Other accepted claims may still settle, so their users get a fault instead of a
         * refusal.
         */
        private Future<ClaimOutcome> refusedUnlessWon(@Nullable Kind refusal) {
            return inTime(lookups.find(key))
                    .compose(claim -> claim == null && refusal != Kind.NOT_ELIGIBLE
                            ? Future.failedFuture(UnavailableException.setAside())
                            : refusedUnless(claim, Kind.NOT_ELIGIBLE));
        }

        /**
         * A winner gets the claim back despite any refusal. Redis also knows accepted claims before their settlement; "expired" would be
         * wrong for their users.
         */
        private Future<ClaimOutcome> askScript(@Nullable Kind refusal) {
            if (refusal == null) {
                return race();
            }
            return batcher.ask(packet, caller.user(), deadlineNanos).compose(answer -> {
                mayBeDone = true;
                return switch (answer.verdict()) {
                    case HELD -> held(answer);
                    case MISSING -> missing(answer, refusal);
                    case GIVEN, DRAINED, CLOSED, LIMITED_IN_ALL, LIMITED_TODAY, LIMITED_BY_PRODUCT, UNCOUNTED ->
                        refused(refusal);
                };
            });
        }

        private Future<ClaimOutcome> race() {
            UnavailableException refused = admit();
            if (refused != null) {
                return Future.failedFuture(refused);
            }
            long queuedNanos = attempts.nanos();
            return batcher.submit(packet, caller.user(), deadlineNanos).compose(answer -> {
                entry.arrived();
                mayBeDone = true;
                return switch (answer.verdict()) {
                    case GIVEN -> given(answer, queuedNanos);
                    case HELD -> held(answer);
                    case DRAINED -> refused(Kind.DRAINED);
                    case CLOSED -> refused(Kind.EXPIRED);
                    case LIMITED_IN_ALL -> limited(Reason.TOTAL);
                    case LIMITED_TODAY -> limited(Reason.DAY);
                    case LIMITED_BY_PRODUCT -> limited(Reason.PRODUCT);
                    case UNCOUNTED -> lost(answer.generation(), campaignKey(answer.generation()));
                    case MISSING -> missing(answer, null);
                };
            });
        }

        private Future<ClaimOutcome> limited(Reason reason) {
            return Future.succeededFuture(ClaimOutcome.refused(Kind.LIMITED, reason));
        }

        private String campaignKey(Generation generation) {
            return PacketKeys.campaign(
                    generation, Objects.requireNonNull(packet.pool()).campaign());
        }

        /** The refusal, or null if the claim is admitted. A claim that joins a waiting claim of the same user adds no settlement. */
        private @Nullable UnavailableException admit() {
            if (!awaitsSettlement) {
                return entry.admitInPassing();
            }
            return waiters.isAwaited(key) ? null : entry.admit(waiters.isFull(batcher.waiting() + gate.repeating()));
        }

        private Future<ClaimOutcome> given(Answer answer, long queuedNanos) {
            metrics.answered(Kind.ACCEPTED);
            metrics.accepting.record(attempts.nanos() - queuedNanos, TimeUnit.NANOSECONDS);
            if (!awaitsSettlement) {
                return accepted(answer);
            }
            tellAccepted(answer);
            return settled(answer, Kind.CLAIMED);
        }

        /** A slot that the user holds. It is usually settled, and read from Postgres. Otherwise it waits like the first claim. */
        private Future<ClaimOutcome> held(Answer answer) {
            boolean joins = waiters.isAwaited(key);
            if (!awaitsSettlement) {
                return joins
                        ? accepted(answer)
                        : settledClaim()
                                .compose(claim -> claim == null
                                        ? accepted(answer)
                                        : Future.succeededFuture(new ClaimOutcome(Kind.ALREADY_CLAIMED, claim)));
            }
            Future<ClaimOutcome> settled = settled(answer, Kind.ALREADY_CLAIMED);
            if (joins) {
                tellAccepted(answer);
            } else {
                var unused = inTime(lookups.find(key)).onSuccess(claim -> {
                    if (claim == null) {
                        tellAccepted(answer);
                    } else {
                        waiters.found(key, claim);
                    }
                });
            }
            return settled;
        }

        private Future<ClaimOutcome> accepted(Answer answer) {
            return acceptedClaim(answer).map(claim -> new ClaimOutcome(Kind.ACCEPTED, claim));
        }

        /** If the amount cannot be read, the settled claim is the only answer. */
        private void tellAccepted(Answer answer) {
            if (accepted != null) {
                var unused = acceptedClaim(answer).onSuccess(claim -> {
                    if (accepted != null) {
                        accepted.accept(claim);
                        accepted = null;
                    }
                });
            }
        }

        /** Reads the amount, usually from the cache. */
        private Future<Claim> acceptedClaim(Answer answer) {
            return inTime(catalog.amountOf(packet, answer.slot()))
                    .map(amount -> new Claim(packet.id(), caller.user(), answer.slot(), amount, packet.asset(), null));
        }

        /** Awaits the settlement of an accepted claim. If its generation ends without one, tries again. */
        private Future<ClaimOutcome> settled(Answer answer, Kind kind) {
            if (isSetAside()) {
                return Future.failedFuture(UnavailableException.setAside());
            }
            return waiters.await(key, answer.generation(), answer.verdict() == Verdict.GIVEN, deadlineNanos)
                    .compose(
                            claim -> claim == null ? attempt() : Future.succeededFuture(new ClaimOutcome(kind, claim)));
        }

        private Future<ClaimOutcome> missing(Answer answer, @Nullable Kind refusal) {
            return missing(
                    answer.generation(),
                    ended.find(packet.id())
                            .compose(over -> over == null ? Future.succeededFuture() : ended(over, refusal)));
        }
    }

    /** Metrics of claims. Thread-safe. */
    static final class ClaimMetrics {
        private final Map<ClaimOutcome.Kind, Counter> outcomes = new EnumMap<>(ClaimOutcome.Kind.class);
        final Counter unknown;
        final DistributionSummary batchSize;
        final Timer accepting;
        final Timer settling;
        final LoopSum inFlight;

        public ClaimMetrics(MeterRegistry registry) {
            for (ClaimOutcome.Kind kind : ClaimOutcome.Kind.values()) {
                outcomes.put(kind, outcome(registry, kind.name()));
            }
            unknown = outcome(registry, "UNKNOWN");
            batchSize = DistributionSummary.builder("hongbao.claim.batch.claims")
                    .description("Claims in one call of the claim script")
                    .register(registry);
            accepting = Timer.builder("hongbao.claim.accepting")
                    .description("Of a claim that won a slot: from its place in the queue to Redis' answer")
                    .register(registry);
            settling = Timer.builder("hongbao.claim.settling")
                    .description("From accepted by Redis to settled in Postgres")
                    .register(registry);
            inFlight = new LoopSum(
                    registry,
                    "hongbao.claim.waiting",
                    "Claims in flight: waiting for the script or for their settlement, including claims whose caller gave up");
        }

        private static Counter outcome(MeterRegistry registry, String kind) {
            return Counter.builder("hongbao.claim.outcomes")
                    .description("Claims by outcome")
                    .tag("outcome", kind.toLowerCase(Locale.ROOT).replace('_', '-'))
                    .register(registry);
        }

        void answered(ClaimOutcome.Kind kind) {
            Objects.requireNonNull(outcomes.get(kind)).increment();
        }
    }
}
