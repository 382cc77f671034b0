package dev.hongbao.domain.claim;

import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.Reason;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.claim.ClaimBatcher.Answer;
import dev.hongbao.domain.claim.ClaimOutcome.Kind;
import dev.hongbao.domain.packet.Claim;
import dev.hongbao.domain.packet.EndedPackets;
import dev.hongbao.domain.packet.EndedPackets.EndedPacket;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.domain.packet.PacketKeys;
import dev.hongbao.domain.packet.PacketStatus;
import dev.hongbao.engine.admission.AdmissionControl;
import dev.hongbao.engine.journal.Attempt;
import dev.hongbao.engine.shard.Generation;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One claim, from the early answers to its outcome. Confined to its event loop. */
final class ClaimAttempt extends Attempt<ClaimAttempt.Key, Claim, ClaimOutcome> {

    record Key(PacketId packet, UserId user) {
        static Key of(Claim claim) {
            return new Key(claim.packet(), claim.user());
        }
    }

    private final ClaimService claims;
    private final Caller caller;
    private final Packet packet;
    private final @Nullable String passcode;
    private final boolean awaitsSettlement;
    private final Promise<ClaimOutcome> accepted = Promise.promise();
    private final AdmissionControl.Entry entry;
    private final @Nullable RefusedException restricted;

    ClaimAttempt(
            ClaimService claims,
            Caller caller,
            Packet packet,
            @Nullable String passcode,
            boolean awaitsSettlement,
            long deadlineNanos) {
        super(claims.vertx, claims.shards, claims.quarantine, claims.waiters, deadlineNanos);
        this.claims = claims;
        this.caller = caller;
        this.packet = packet;
        this.passcode = passcode;
        this.awaitsSettlement = awaitsSettlement;
        this.entry = claims.gate.entry(packet.shard());
        this.restricted = claims.restrictions.ofClaim(
                caller,
                packet.group(),
                packet.pool() == null ? null : packet.pool().claiming().members());
    }

    /** Begins. Without a wait for the settlement, both answers are the same. */
    ClaimAnswers begin() {
        Future<ClaimOutcome> outcome = orUnknown(start().compose(this::orRestricted))
                .onComplete(done -> {
                    entry.arrived();
                    if (done.succeeded()) {
                        if (done.result().kind() != Kind.ACCEPTED) {
                            claims.metrics.answered(done.result().kind());
                        }
                        accepted.tryComplete(done.result());
                    } else {
                        if (!entry.isRefused() && !(done.cause() instanceof RefusedException)) {
                            claims.metrics.unknown();
                        }
                        accepted.tryFail(done.cause());
                    }
                });
        return new ClaimAnswers(accepted.future(), outcome);
    }

    @Override
    protected UUID unit() {
        return packet.id().value();
    }

    @Override
    protected String key(Generation generation) {
        return PacketKeys.hash(generation, packet.id());
    }

    private String campaignKey(Generation generation) {
        return PacketKeys.campaign(
                generation, Objects.requireNonNull(packet.pool()).campaign());
    }

    @Override
    protected Future<Boolean> exists() {
        return claims.store.exists(packet.id());
    }

    @Override
    protected ClaimOutcome notFound() {
        return ClaimOutcome.refused(Kind.NOT_FOUND);
    }

    private Key key() {
        return new Key(packet.id(), caller.user());
    }

    /** Counts the passcode as a guess first, and refuses it beyond the packet's limit. */
    private Future<ClaimOutcome> start() {
        if (packet.passcode() == null || passcode == null || isRefusedByTerms()) {
            return attempt();
        }
        UnavailableException refused = askForEntry();
        if (refused != null) {
            return Future.failedFuture(refused); // before any lookup, with a right or a wrong passcode
        }
        return claims.guesses
                .guess(claims.redis, packet.id(), caller.user(), refusal() == Kind.WRONG_PASSCODE)
                .compose(looked -> attempt());
    }

    /** Refused for another reason than the passcode. Such a claim is no guess: an outsider must not use up a packet's guesses. */
    private boolean isRefusedByTerms() {
        Kind refusal = refusal();
        return refusal != null && refusal != Kind.WRONG_PASSCODE;
    }

    /** Gives the answers that need no Redis: from the terms, from settled facts, and from this server's clock for a refusal. */
    @Override
    protected Future<ClaimOutcome> attempt() {
        Kind refusal = refusal();
        if (refusal == Kind.NOT_OPEN_YET) {
            return Future.succeededFuture(ClaimOutcome.refused(refusal));
        }
        if (isSetAside()) {
            return refusedUnlessWon(refusal);
        }
        EndedPackets ended = claims.ended;
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

    /** Adds the cause to NOT_ELIGIBLE: the restriction, or the packet's term. */
    private Future<ClaimOutcome> orRestricted(ClaimOutcome outcome) {
        if (outcome.kind() != Kind.NOT_ELIGIBLE) {
            return Future.succeededFuture(outcome);
        }
        return restricted != null
                ? Future.failedFuture(restricted)
                : Future.succeededFuture(new ClaimOutcome(Kind.NOT_ELIGIBLE, null, packet.unfit(caller)));
    }

    private @Nullable Kind refusal() {
        if (restricted != null) {
            return Kind.NOT_ELIGIBLE;
        }
        return ClaimTerms.refusal(packet, caller, passcode, claims.clock.instant());
    }

    private Future<ClaimOutcome> ended(EndedPacket over, @Nullable Kind refusal) {
        Kind reason = refusal != null ? refusal : over.status() == PacketStatus.DRAINED ? Kind.DRAINED : Kind.EXPIRED;
        var winners = over.winners();
        if (winners == null && over.mayHold(caller.user())) {
            // All its claims are settled, so Postgres has this one.
            return inTime(claims.store.claim(packet.id(), caller.user())).map(claim -> outcome(claim, reason));
        }
        Claim won = winners == null ? null : winners.get(caller.user());
        return Future.succeededFuture(outcome(won, reason));
    }

    private static ClaimOutcome outcome(@Nullable Claim won, Kind refusal) {
        return won == null ? ClaimOutcome.refused(refusal) : new ClaimOutcome(Kind.ALREADY_CLAIMED, won);
    }

    /**
     * For a packet set aside. A settled claim stands. Other accepted claims may still settle, so their users get a fault instead of a
     * refusal.
     */
    private Future<ClaimOutcome> refusedUnlessWon(@Nullable Kind refusal) {
        return inTime(claims.lookups.find(key())).compose(claim -> {
            if (claim == null && refusal != Kind.NOT_ELIGIBLE) {
                return Future.failedFuture(UnavailableException.setAside());
            }
            return Future.succeededFuture(outcome(claim, Kind.NOT_ELIGIBLE));
        });
    }

    /**
     * A winner gets the claim back despite any refusal. Redis also knows accepted claims before their settlement; "expired" would be wrong
     * for their users.
     */
    private Future<ClaimOutcome> askScript(@Nullable Kind refusal) {
        if (refusal == null) {
            return race();
        }
        return batcher().ask(packet, caller.user(), deadlineNanos()).compose(answer -> switch (answer.verdict()) {
            case HELD -> held(answer);
            case MISSING -> missing(answer, refusal);
            case GIVEN, DRAINED, CLOSED, LIMITED_IN_ALL, LIMITED_TODAY, LIMITED_BY_PRODUCT, UNCOUNTED ->
                Future.succeededFuture(ClaimOutcome.refused(refusal));
        });
    }

    private Future<ClaimOutcome> race() {
        UnavailableException refused = askForEntry();
        if (refused != null) {
            return Future.failedFuture(refused);
        }
        long queuedNanos = System.nanoTime();
        return batcher()
                .submit(packet, caller.user(), deadlineNanos())
                .compose(answer -> answered(answer, queuedNanos));
    }

    private Future<ClaimOutcome> answered(Answer answer, long queuedNanos) {
        entry.arrived();
        return switch (answer.verdict()) {
            case GIVEN -> given(answer, queuedNanos);
            case HELD -> held(answer);
            case DRAINED -> Future.succeededFuture(ClaimOutcome.refused(Kind.DRAINED));
            case CLOSED -> Future.succeededFuture(ClaimOutcome.refused(Kind.EXPIRED));
            case LIMITED_IN_ALL -> limited(Reason.TOTAL);
            case LIMITED_TODAY -> limited(Reason.DAY);
            case LIMITED_BY_PRODUCT -> limited(Reason.PRODUCT);
            case UNCOUNTED -> lost(answer.generation(), campaignKey(answer.generation()));
            case MISSING -> missing(answer, null);
        };
    }

    private static Future<ClaimOutcome> limited(Reason reason) {
        return Future.succeededFuture(ClaimOutcome.refused(Kind.LIMITED, reason));
    }

    /** The refusal, or null if the claim is admitted. A claim that joins a waiting claim of the same user adds no settlement. */
    private @Nullable UnavailableException askForEntry() {
        if (!awaitsSettlement) {
            return entry.askInPassing();
        }
        return waiters().joined(key()) != null
                ? null
                : entry.ask(waiters().isFull(batcher().waiting()));
    }

    private ClaimBatcher batcher() {
        return claims.batcher;
    }

    private Future<ClaimOutcome> given(Answer answer, long queuedNanos) {
        claims.metrics.answered(Kind.ACCEPTED);
        claims.metrics.acceptedAfter(System.nanoTime() - queuedNanos);
        if (!awaitsSettlement) {
            return acceptance(answer.slot());
        }
        accept(answer.slot());
        return await(answer, Kind.CLAIMED);
    }

    /** Answers "accepted". If the amount cannot be read, the settlement is the only answer. */
    private void accept(int slot) {
        var unused = acceptance(slot).onSuccess(accepted::tryComplete);
    }

    /** Reads the amount, usually from the cache. */
    private Future<ClaimOutcome> acceptance(int slot) {
        return inTime(claims.catalog.amountOf(packet, slot))
                .map(amount -> new ClaimOutcome(
                        Kind.ACCEPTED,
                        new Claim(
                                packet.id(),
                                caller.user(),
                                new Claim.Share(slot, amount, packet.asset()),
                                Claim.Status.ACCEPTED,
                                null)));
    }

    /** Answers a held slot. It is usually settled, and read from Postgres. Otherwise it waits like the first claim. */
    private Future<ClaimOutcome> held(Answer answer) {
        boolean joins = waiters().joined(key()) != null;
        if (!awaitsSettlement) {
            return joins
                    ? acceptance(answer.slot())
                    : inTime(claims.store.claim(packet.id(), caller.user()))
                            .compose(claim -> claim == null
                                    ? acceptance(answer.slot())
                                    : Future.succeededFuture(new ClaimOutcome(Kind.ALREADY_CLAIMED, claim)));
        }
        Future<ClaimOutcome> settled = await(answer, Kind.ALREADY_CLAIMED);
        if (joins) {
            accept(answer.slot());
        } else {
            var unused = inTime(claims.store.claim(packet.id(), caller.user())).onSuccess(claim -> {
                if (claim == null) {
                    accept(answer.slot());
                } else {
                    waiters().found(key(), claim);
                }
            });
        }
        return settled;
    }

    private Future<ClaimOutcome> await(Answer answer, Kind kind) {
        boolean isOurs = answer.verdict() == ClaimBatcher.Verdict.GIVEN;
        return await(
                key(), answer.generation(), isOurs, claim -> Future.succeededFuture(new ClaimOutcome(kind, claim)));
    }

    private Future<ClaimOutcome> missing(Answer answer, @Nullable Kind refusal) {
        return missing(
                answer.generation(),
                claims.ended
                        .find(packet.id())
                        .compose(over -> over == null ? Future.succeededFuture() : ended(over, refusal)));
    }
}
