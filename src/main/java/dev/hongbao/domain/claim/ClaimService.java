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
import dev.hongbao.engine.journal.Quarantine;
import dev.hongbao.engine.journal.SettlementWaiters;
import dev.hongbao.engine.postgres.GatheredLookups;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The race for the shares. One instance per event loop; call it on that loop only. */
public final class ClaimService {
    private final PacketCatalog catalog;
    private final ClaimRace.Dependencies needs;

    /**
     * @param redis a link of this event loop
     * @param guesses the server's
     * @param clock for refusing early only: what is due is decided by Postgres' clock
     */
    public ClaimService(
            Vertx vertx,
            RedisLink redis,
            Shards shards,
            Quarantine quarantine,
            PacketStore store,
            PacketCatalog catalog,
            EndedPackets ended,
            PasscodeGuesses guesses,
            ClaimSettings settings,
            ClaimMetrics metrics,
            Clock clock) {
        this.catalog = catalog;
        SettlementWaiters<ClaimRace.Key, Claim> waiters = new SettlementWaiters<>(
                vertx,
                shards,
                settings.maxUnsettled(),
                keys -> settledClaims(store, keys),
                metrics::settledAfter,
                System::nanoTime);
        vertx.eventBus()
                .<SettledClaims>localConsumer(
                        SettledClaims.ADDRESS,
                        settled -> settled.body()
                                .claims()
                                .forEach(claim -> waiters.settled(ClaimRace.Key.of(claim), claim)));
        vertx.eventBus()
                .<Quarantine.Changed>localConsumer(
                        Quarantine.Changed.ADDRESS,
                        changed -> waiters.refuse(
                                key -> changed.body()
                                        .added()
                                        .contains(key.packet().value()),
                                UnavailableException.setAside()));
        this.needs = new ClaimRace.Dependencies(
                vertx,
                quarantine,
                new GatheredLookups<>(keys -> settledClaims(store, keys)),
                redis,
                guesses,
                store,
                catalog,
                ended,
                shards,
                new ClaimBatcher(vertx, redis, shards, settings, metrics),
                waiters,
                settings,
                metrics,
                clock);
        metrics.watch(this::inFlight);
    }

    private static Future<Map<ClaimRace.Key, Claim>> settledClaims(PacketStore store, Collection<ClaimRace.Key> keys) {
        return store.claims(
                        keys.stream().map(ClaimRace.Key::packet).toList(),
                        keys.stream().map(ClaimRace.Key::user).toList())
                .map(claims -> claims.stream().collect(Collectors.toMap(ClaimRace.Key::of, claim -> claim)));
    }

    /** Claims in flight on this event loop: waiting for the script or for their settlement. */
    public int inFlight() {
        return needs.batcher().waiting() + needs.waiters().waiting();
    }

    /**
     * Claims a share. Idempotent by (caller, packet): every later answer equals the first settled one (invariant I6).
     *
     * @param passcode what the caller typed; null for none
     * @return both answers; they fail with {@link UnavailableException} when the outcome is not known in time, or too many
     *     claims wait
     */
    public ClaimAnswers claim(Caller caller, PacketId id, @Nullable String passcode) {
        ClaimRace race = new ClaimRace(needs, caller, passcode, true);
        begin(race, id);
        return race.answers();
    }

    /**
     * As {@link #claim}, for a caller who does not wait for the settlement: only the first of the two answers, and nothing is
     * kept after it.
     */
    public Future<ClaimOutcome> accept(Caller caller, PacketId id, @Nullable String passcode) {
        ClaimRace race = new ClaimRace(needs, caller, passcode, false);
        begin(race, id);
        return race.answers().accepted();
    }

    private void begin(ClaimRace race, PacketId id) {
        Packet packet = catalog.cached(id);
        if (packet != null) {
            race.start(packet);
        } else {
            race.inTime(catalog.find(id)).onFailure(race::fail).onSuccess(found -> {
                if (found == null && needs.quarantine().holds(id.value())) {
                    race.fail(UnavailableException.setAside()); // its terms cannot be read
                } else if (found == null) {
                    race.finish(ClaimOutcome.refused(Kind.NOT_FOUND));
                } else {
                    race.start(found);
                }
            });
        }
    }
}
