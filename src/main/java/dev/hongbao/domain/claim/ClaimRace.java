package dev.hongbao.domain.claim;

import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.TooManyCallsException;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.claim.ClaimBatcher.Answer;
import dev.hongbao.domain.claim.ClaimOutcome.Kind;
import dev.hongbao.domain.packet.Claim;
import dev.hongbao.domain.packet.EndedPackets;
import dev.hongbao.domain.packet.EndedPackets.EndedPacket;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.domain.packet.PacketCatalog;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.domain.packet.PacketStatus;
import dev.hongbao.domain.packet.PacketStore;
import dev.hongbao.domain.packet.Passcode;
import dev.hongbao.engine.journal.Quarantine;
import dev.hongbao.engine.journal.SettlementWaiters;
import dev.hongbao.engine.postgres.GatheredLookups;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One claim on its way from the first look to its outcome. Confined to its event loop. */
final class ClaimRace {
    private static final long RETRY_MILLIS = 20;

    /** What all claims of an event loop share. @param lookups of settled claims, many in one query */
    record Dependencies(
            Vertx vertx,
            Quarantine quarantine,
            GatheredLookups<Key, Claim> lookups,
            RedisLink redis,
            PasscodeGuesses guesses,
            PacketStore store,
            PacketCatalog catalog,
            EndedPackets ended,
            Shards shards,
            ClaimBatcher batcher,
            SettlementWaiters<Key, Claim> waiters,
            ClaimSettings settings,
            ClaimMetrics metrics,
            Clock clock) {}

    /** Whose claim on what. */
    record Key(PacketId packet, UserId user) {
        static Key of(Claim claim) {
            return new Key(claim.packet(), claim.user());
        }
    }

    private final Dependencies needs;
    private final Caller caller;
    private final @Nullable String passcode;
    private final boolean awaitsSettlement;
    private final long deadlineNanos;
    private final Promise<ClaimOutcome> accepted = Promise.promise();
    private final Promise<ClaimOutcome> settled = Promise.promise();

    ClaimRace(Dependencies needs, Caller caller, @Nullable String passcode, boolean awaitsSettlement) {
        this.needs = needs;
        this.deadlineNanos = System.nanoTime() + needs.settings().timeout().toNanos();
        this.caller = caller;
        this.passcode = passcode;
        this.awaitsSettlement = awaitsSettlement;
    }

    ClaimAnswers answers() {
        return new ClaimAnswers(accepted.future(), settled.future());
    }

    /** A store that neither answers nor breaks must not keep the claim beyond its time. */
    <T> Future<T> inTime(Future<T> asked) {
        return asked.isComplete()
                ? asked
                : asked.timeout(Math.max(1, (deadlineNanos - System.nanoTime()) / 1_000_000), TimeUnit.MILLISECONDS);
    }

    void finish(ClaimOutcome outcome) {
        needs.metrics().answered(outcome.kind());
        accepted.tryComplete(outcome);
        settled.tryComplete(outcome);
    }

    void fail(Throwable fault) {
        needs.metrics().unknown();
        Throwable known = fault instanceof UnavailableException || fault instanceof TooManyCallsException
                ? fault
                : UnavailableException.unknown("The stores do not answer. Repeat the same claim shortly.");
        accepted.tryFail(known);
        settled.tryFail(known);
    }

    /** The first step. A passcode is looked at only while its packet has not had too many wrong ones. */
    void start(Packet packet) {
        if (packet.passcode() == null || passcode == null || isRefusedByTerms(packet)) {
            enter(packet);
            return;
        }
        needs.guesses().admits(needs.redis(), packet.id(), caller.user()).onSuccess(admitted -> {
            if (!admitted) {
                fail(new TooManyCallsException(
                        "This packet had too many wrong passcodes: one guess a minute is read.",
                        (int) PasscodeGuesses.WAIT.toSeconds()));
                return;
            }
            if (refusal(packet) == Kind.WRONG_PASSCODE) {
                needs.guesses().wrong(needs.redis(), packet.id());
            }
            enter(packet);
        });
    }

    /** Whoever may not claim anyway has not guessed: an outsider must not use up a packet's guesses. */
    private boolean isRefusedByTerms(Packet packet) {
        Kind refusal = refusal(packet);
        return refusal != null && refusal != Kind.WRONG_PASSCODE;
    }

    /** What can be said without Redis: from the terms, from settled facts, from this server's clock when it refuses. */
    void enter(Packet packet) {
        Kind refusal = refusal(packet);
        if (refusal == Kind.NOT_OPEN_YET) {
            finish(ClaimOutcome.refused(refusal));
            return;
        }
        if (needs.quarantine().holds(packet.id().value())) {
            refuseUnlessWon(packet, refusal);
            return;
        }
        EndedPacket over = needs.ended().cached(packet.id());
        if (over != null) {
            finishEnded(packet, over, refusal);
        } else if (needs.ended().isHinted(packet.id())) {
            inTime(needs.ended().find(packet.id())).onFailure(this::fail).onSuccess(found -> {
                if (found != null) {
                    finishEnded(packet, found, refusal);
                } else {
                    enterOpen(packet, refusal);
                }
            });
        } else {
            enterOpen(packet, refusal);
        }
    }

    private void enterOpen(Packet packet, @Nullable Kind refusal) {
        if (refusal == null) {
            race(packet);
        } else {
            ask(packet, refusal);
        }
    }

    private @Nullable Kind refusal(Packet packet) {
        // The clock may lag; but who has a packet's row knows that it is past its sending.
        Instant clock = needs.clock().instant();
        Instant now = clock.isBefore(packet.createdAt()) ? packet.createdAt() : clock;
        if (!caller.isMemberOf(packet.group()) || !packet.admits(caller.user())) {
            return Kind.NOT_ELIGIBLE;
        }
        if (packet.opensAfter(now)) {
            return Kind.NOT_OPEN_YET;
        }
        if (!now.isBefore(packet.expiresAt())) {
            return Kind.EXPIRED;
        }
        Passcode wanted = packet.passcode();
        if (wanted != null && (passcode == null || !wanted.matches(packet.id(), passcode))) {
            return Kind.WRONG_PASSCODE;
        }
        return null;
    }

    private void finishEnded(Packet packet, EndedPacket over, @Nullable Kind refusal) {
        Kind reason = refusal != null ? refusal : over.status() == PacketStatus.DRAINED ? Kind.DRAINED : Kind.EXPIRED;
        var winners = over.winners();
        if (winners == null && over.mayHold(caller.user())) {
            finishUnlessWon(packet, reason);
            return;
        }
        Claim won = winners == null ? null : winners.get(caller.user());
        finish(won == null ? ClaimOutcome.refused(reason) : new ClaimOutcome(Kind.ALREADY_CLAIMED, won));
    }

    /**
     * A winner gets the claim back, whatever else would refuse it now. Redis is asked, since it knows also those whose claim is
     * accepted and not settled yet: to tell one of them "expired" would be wrong.
     */
    private void ask(Packet packet, Kind refusal) {
        needs.batcher()
                .ask(packet, caller.user(), deadlineNanos)
                .onFailure(this::fail)
                .onSuccess(answer -> {
                    switch (answer.verdict()) {
                        case HELD -> held(packet, answer);
                        case MISSING -> missing(packet, answer, refusal);
                        case GIVEN, DRAINED, CLOSED -> finish(ClaimOutcome.refused(refusal));
                    }
                });
    }

    /** Of a packet that is set aside: a settled claim stands, and what else was accepted may still be settled. */
    private void refuseUnlessWon(Packet packet, @Nullable Kind refusal) {
        inTime(needs.lookups().find(new Key(packet.id(), caller.user())))
                .onFailure(this::fail)
                .onSuccess(claim -> {
                    if (claim != null) {
                        finish(new ClaimOutcome(Kind.ALREADY_CLAIMED, claim));
                    } else if (refusal == Kind.NOT_ELIGIBLE) {
                        finish(ClaimOutcome.refused(refusal));
                    } else {
                        fail(UnavailableException.setAside());
                    }
                });
    }

    /** Of a packet that is over: all its claims are settled. */
    private void finishUnlessWon(Packet packet, Kind refusal) {
        inTime(needs.store().claim(packet.id(), caller.user()))
                .onFailure(this::fail)
                .onSuccess(claim -> finish(
                        claim == null ? ClaimOutcome.refused(refusal) : new ClaimOutcome(Kind.ALREADY_CLAIMED, claim)));
    }

    private void race(Packet packet) {
        if (awaitsSettlement && needs.waiters().isFull(needs.batcher().waiting())) {
            fail(UnavailableException.overloaded("Claims come faster than they settle. Try again shortly."));
            return;
        }
        needs.batcher()
                .submit(packet, caller.user(), deadlineNanos)
                .onFailure(this::fail)
                .onSuccess(answer -> answered(packet, answer));
    }

    private void answered(Packet packet, Answer answer) {
        switch (answer.verdict()) {
            case GIVEN -> {
                needs.metrics().answered(Kind.ACCEPTED);
                accept(packet, answer.slot());
                if (awaitsSettlement) {
                    await(packet, answer, Kind.CLAIMED);
                }
            }
            case HELD -> held(packet, answer);
            case DRAINED -> finish(ClaimOutcome.refused(Kind.DRAINED));
            case CLOSED -> finish(ClaimOutcome.refused(Kind.EXPIRED));
            case MISSING -> missing(packet, answer, null);
        }
    }

    /** Mostly the amount is at hand. Who waits for the settlement hears of it there, if it cannot be read now. */
    private void accept(Packet packet, int slot) {
        inTime(needs.catalog().amountOf(packet, slot))
                .onSuccess(amount -> accepted.tryComplete(new ClaimOutcome(
                        Kind.ACCEPTED,
                        new Claim(
                                packet.id(),
                                caller.user(),
                                slot,
                                amount,
                                packet.asset(),
                                Claim.Status.ACCEPTED,
                                needs.clock().instant()))))
                .onFailure(fault -> {
                    if (!awaitsSettlement) {
                        fail(fault);
                    }
                });
    }

    /** Mostly settled long ago, and then Postgres has it; if not, it waits like the first. */
    private void held(Packet packet, Answer answer) {
        boolean joins = needs.waiters().joined(new Key(packet.id(), caller.user())) != null;
        if (awaitsSettlement) {
            await(packet, answer, Kind.ALREADY_CLAIMED);
        }
        if (joins) {
            accept(packet, answer.slot());
            return;
        }
        Future<@Nullable Claim> settledBefore = inTime(needs.store().claim(packet.id(), caller.user()));
        settledBefore.onSuccess(claim -> {
            if (claim == null) {
                accept(packet, answer.slot());
            } else if (awaitsSettlement) {
                needs.waiters().settled(new Key(packet.id(), caller.user()), claim);
            } else {
                finish(new ClaimOutcome(Kind.ALREADY_CLAIMED, claim));
            }
        });
        if (!awaitsSettlement) {
            settledBefore.onFailure(this::fail);
        }
    }

    private void await(Packet packet, Answer answer, Kind kind) {
        if (needs.quarantine().holds(packet.id().value())) {
            fail(UnavailableException.setAside());
            return;
        }
        needs.waiters()
                .await(new Key(packet.id(), caller.user()), answer.generation(), deadlineNanos)
                .onFailure(this::fail)
                .onSuccess(settlement -> {
                    Claim claim = settlement.fact();
                    if (claim != null) {
                        finish(new ClaimOutcome(kind, claim));
                    } else {
                        enter(packet); // the generation that gave the slot is over: claim in the next one
                    }
                });
    }

    /** Redis lacks the packet: it is over, or Redis lost it, or Postgres did. */
    private void missing(Packet packet, Answer answer, @Nullable Kind refusal) {
        inTime(needs.ended().find(packet.id())).onFailure(this::fail).onSuccess(over -> {
            if (over != null) {
                finishEnded(packet, over, refusal);
            } else if (System.nanoTime() - deadlineNanos > 0) {
                fail(UnavailableException.unknown("The packet is being recovered. Repeat the same claim shortly."));
            } else {
                inTime(needs.store().exists(packet.id())).onFailure(this::fail).onSuccess(there -> {
                    if (there) {
                        report(packet, answer.generation());
                    } else {
                        finish(ClaimOutcome.refused(Kind.NOT_FOUND));
                    }
                });
            }
        });
    }

    private void report(Packet packet, Generation generation) {
        inTime(needs.shards()
                        .report(generation, generation.packetKey(packet.id().toString())))
                .onComplete(reported -> needs.vertx().setTimer(RETRY_MILLIS, later -> enter(packet)));
    }
}
