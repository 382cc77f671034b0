package dev.hongbao.claim;

import dev.hongbao.claim.ClaimBatcher.Answer;
import dev.hongbao.claim.ClaimOutcome.Kind;
import dev.hongbao.command.Caller;
import dev.hongbao.command.UnavailableException;
import dev.hongbao.command.UserId;
import dev.hongbao.journal.SettlementWaiters;
import dev.hongbao.journal.SettlementWaiters.Settlement;
import dev.hongbao.journal.Shards;
import dev.hongbao.packet.Claim;
import dev.hongbao.packet.EndedPackets;
import dev.hongbao.packet.EndedPackets.EndedPacket;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.PacketCatalog;
import dev.hongbao.packet.PacketId;
import dev.hongbao.packet.PacketStatus;
import dev.hongbao.packet.PacketStore;
import dev.hongbao.packet.Passcode;
import dev.hongbao.redis.RedisLink;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The race for the shares. One instance per event loop; call it on that loop only. */
public final class ClaimService {
    private static final long RETRY_MILLIS = 20;

    private final Vertx vertx;
    private final PacketStore store;
    private final PacketCatalog catalog;
    private final EndedPackets ended;
    private final Shards shards;
    private final ClaimBatcher batcher;
    private final SettlementWaiters<Key, Claim> waiters;
    private final ClaimSettings settings;
    private final ClaimMetrics metrics;
    private final Clock clock;

    /**
     * @param redis a link of this event loop
     * @param clock for refusing early only: what is due is decided by Postgres' clock
     */
    public ClaimService(
            Vertx vertx,
            RedisLink redis,
            Shards shards,
            PacketStore store,
            PacketCatalog catalog,
            EndedPackets ended,
            ClaimSettings settings,
            ClaimMetrics metrics,
            Clock clock) {
        this.vertx = vertx;
        this.store = store;
        this.catalog = catalog;
        this.ended = ended;
        this.shards = shards;
        this.settings = settings;
        this.metrics = metrics;
        this.clock = clock;
        this.batcher = new ClaimBatcher(vertx, redis, shards, settings, metrics);
        this.waiters = new SettlementWaiters<>(
                vertx, shards, settings.maxUnsettled(), this::settledClaims, metrics::settledAfter);
        vertx.eventBus()
                .<SettledClaims>localConsumer(
                        SettledClaims.ADDRESS,
                        settled -> settled.body().claims().forEach(claim -> waiters.settled(Key.of(claim), claim)));
    }

    /** Whose claim on what. */
    private record Key(PacketId packet, UserId user) {
        static Key of(Claim claim) {
            return new Key(claim.packet(), claim.user());
        }
    }

    private Future<Map<Key, Claim>> settledClaims(Collection<Key> keys) {
        return store.claims(
                        keys.stream().map(Key::packet).toList(),
                        keys.stream().map(Key::user).toList())
                .map(claims -> claims.stream().collect(Collectors.toMap(Key::of, claim -> claim)));
    }

    /** Claims in flight on this event loop: waiting for the script or for their settlement. */
    public int inFlight() {
        return batcher.waiting() + waiters.waiting();
    }

    /**
     * Claims a share. Idempotent by (caller, packet): every later answer equals the first settled one (invariant I6).
     *
     * @param passcode what the caller typed; null for none
     * @return both answers; they fail with {@link UnavailableException} when the outcome is not known in time, or too many
     *     claims wait
     */
    public ClaimTicket claim(Caller caller, PacketId id, @Nullable String passcode) {
        Race race = new Race(caller, passcode, true);
        begin(race, id);
        return race.ticket();
    }

    /**
     * As {@link #claim}, for a caller who does not wait for the settlement: only the first of the two answers, and nothing is
     * kept after it.
     */
    public Future<ClaimOutcome> accept(Caller caller, PacketId id, @Nullable String passcode) {
        Race race = new Race(caller, passcode, false);
        begin(race, id);
        return race.accepted.future();
    }

    private void begin(Race race, PacketId id) {
        Packet packet = catalog.cached(id);
        if (packet != null) {
            race.enter(packet);
        } else {
            race.inTime(catalog.find(id)).onFailure(race::fail).onSuccess(found -> {
                if (found == null) {
                    race.finish(ClaimOutcome.refused(Kind.NOT_FOUND));
                } else {
                    race.enter(found);
                }
            });
        }
    }

    /** One claim on its way. */
    private final class Race {
        private final Caller caller;
        private final @Nullable String passcode;
        private final boolean awaitsSettlement;
        private final long deadlineNanos =
                System.nanoTime() + settings.timeout().toNanos();
        private final Promise<ClaimOutcome> accepted = Promise.promise();
        private final Promise<ClaimOutcome> settled = Promise.promise();

        Race(Caller caller, @Nullable String passcode, boolean awaitsSettlement) {
            this.caller = caller;
            this.passcode = passcode;
            this.awaitsSettlement = awaitsSettlement;
        }

        ClaimTicket ticket() {
            return new ClaimTicket(accepted.future(), settled.future());
        }

        /** A store that neither answers nor breaks must not keep the claim beyond its time. */
        <T> Future<T> inTime(Future<T> asked) {
            return asked.isComplete()
                    ? asked
                    : asked.timeout(
                            Math.max(1, (deadlineNanos - System.nanoTime()) / 1_000_000), TimeUnit.MILLISECONDS);
        }

        void finish(ClaimOutcome outcome) {
            metrics.answered(outcome.kind());
            accepted.tryComplete(outcome);
            settled.tryComplete(outcome);
        }

        void fail(Throwable fault) {
            metrics.unknown();
            Throwable known = fault instanceof UnavailableException
                    ? fault
                    : UnavailableException.unknown("The stores do not answer. Repeat the same claim shortly.");
            accepted.tryFail(known);
            settled.tryFail(known);
        }

        /** What can be said without Redis: from the terms, from settled facts, from this server's clock when it refuses. */
        void enter(Packet packet) {
            Kind refusal = refusal(packet);
            if (refusal == Kind.NOT_OPEN_YET) {
                finish(ClaimOutcome.refused(refusal));
                return;
            }
            EndedPacket over = ended.cached(packet.id());
            if (over != null) {
                finishEnded(packet, over, refusal);
            } else if (ended.isHinted(packet.id())) {
                inTime(ended.find(packet.id())).onFailure(this::fail).onSuccess(found -> {
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
                finishUnlessWon(packet, refusal);
            }
        }

        private @Nullable Kind refusal(Packet packet) {
            Instant now = clock.instant();
            if (!caller.isMemberOf(packet.group()) || !packet.admits(caller.user())) {
                return Kind.NOT_ELIGIBLE;
            }
            if (now.isBefore(packet.opensAt())) {
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
            Kind reason =
                    refusal != null ? refusal : over.status() == PacketStatus.DRAINED ? Kind.DRAINED : Kind.EXPIRED;
            var winners = over.winners();
            if (winners == null) {
                finishUnlessWon(packet, reason);
                return;
            }
            Claim won = winners.get(caller.user());
            finish(won == null ? ClaimOutcome.refused(reason) : new ClaimOutcome(Kind.ALREADY_CLAIMED, won));
        }

        /** A winner gets the claim back, whatever else would refuse it now. */
        private void finishUnlessWon(Packet packet, Kind refusal) {
            Future<Settlement<Claim>> waiting = waiters.joined(new Key(packet.id(), caller.user()));
            Future<@Nullable Claim> won =
                    waiting != null ? waiting.map(Settlement::fact) : inTime(store.claim(packet.id(), caller.user()));
            won.onFailure(this::fail)
                    .onSuccess(claim -> finish(
                            claim == null
                                    ? ClaimOutcome.refused(refusal)
                                    : new ClaimOutcome(Kind.ALREADY_CLAIMED, claim)));
        }

        private void race(Packet packet) {
            if (awaitsSettlement && waiters.isFull()) {
                fail(UnavailableException.overloaded("Claims come faster than they settle. Try again shortly."));
                return;
            }
            batcher.submit(packet, caller.user(), deadlineNanos)
                    .onFailure(this::fail)
                    .onSuccess(answer -> answered(packet, answer));
        }

        private void answered(Packet packet, Answer answer) {
            switch (answer.verdict()) {
                case GIVEN -> {
                    metrics.answered(Kind.ACCEPTED);
                    accepted.tryComplete(new ClaimOutcome(Kind.ACCEPTED, acceptedClaim(packet, answer.slot())));
                    if (awaitsSettlement) {
                        await(packet, answer, Kind.CLAIMED);
                    }
                }
                case HELD -> held(packet, answer);
                case DRAINED -> finish(ClaimOutcome.refused(Kind.DRAINED));
                case CLOSED -> finish(ClaimOutcome.refused(Kind.EXPIRED));
                case MISSING -> missing(packet, answer);
            }
        }

        private Claim acceptedClaim(Packet packet, int slot) {
            UserId user = caller.user();
            return new Claim(
                    packet.id(),
                    user,
                    slot,
                    packet.amountOf(slot),
                    packet.asset(),
                    Claim.Status.ACCEPTED,
                    clock.instant());
        }

        /** Mostly settled long ago, and then Postgres has it; if not, it waits like the first. */
        private void held(Packet packet, Answer answer) {
            boolean joins = waiters.joined(new Key(packet.id(), caller.user())) != null;
            if (awaitsSettlement) {
                await(packet, answer, Kind.ALREADY_CLAIMED);
            }
            if (joins) {
                acceptHeld(packet, answer);
                return;
            }
            Future<@Nullable Claim> settledBefore = inTime(store.claim(packet.id(), caller.user()));
            settledBefore.onSuccess(claim -> {
                if (claim == null) {
                    acceptHeld(packet, answer);
                } else if (awaitsSettlement) {
                    waiters.settled(new Key(packet.id(), caller.user()), claim);
                } else {
                    finish(new ClaimOutcome(Kind.ALREADY_CLAIMED, claim));
                }
            });
            if (!awaitsSettlement) {
                settledBefore.onFailure(this::fail);
            }
        }

        private void acceptHeld(Packet packet, Answer answer) {
            accepted.tryComplete(new ClaimOutcome(Kind.ACCEPTED, acceptedClaim(packet, answer.slot())));
        }

        private void await(Packet packet, Answer answer, Kind kind) {
            waiters.await(new Key(packet.id(), caller.user()), answer.generation(), deadlineNanos)
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

        /** Redis lacks the packet: it is over, or Redis lost it. */
        private void missing(Packet packet, Answer answer) {
            inTime(ended.find(packet.id())).onFailure(this::fail).onSuccess(over -> {
                if (over != null) {
                    finishEnded(packet, over, null);
                } else if (System.nanoTime() - deadlineNanos > 0) {
                    fail(UnavailableException.unknown("The packet is being recovered. Repeat the same claim shortly."));
                } else {
                    inTime(shards.report(
                                    answer.generation(),
                                    answer.generation().packetKey(packet.id().toString())))
                            .onComplete(reported -> vertx.setTimer(RETRY_MILLIS, later -> enter(packet)));
                }
            });
        }
    }
}
