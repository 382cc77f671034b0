package dev.hongbao.domain.claim;

import dev.hongbao.domain.packet.Claim;
import dev.hongbao.domain.packet.EndedPackets;
import dev.hongbao.domain.packet.PacketCatalog;
import dev.hongbao.domain.packet.PacketStore;
import dev.hongbao.domain.restriction.Restrictions;
import dev.hongbao.engine.admission.AdmissionControl;
import dev.hongbao.engine.journal.Attempt;
import dev.hongbao.engine.postgres.GatheredLookups;
import dev.hongbao.engine.redis.RedisLinks;
import java.time.Clock;

/** The services shared by all claims of an event loop. */
record ClaimNeeds(
        Attempt.Shared<ClaimAttempt.Key, Claim> shared,
        Stations stations,
        Known known,
        Guesses guesses,
        ClaimMetrics metrics,
        Clock clock) {

    /** The stages of a claim on its way to settlement, in order. */
    record Stations(AdmissionControl.Gate gate, ClaimBatcher batcher) {}

    /**
     * Reads of packets and settled claims.
     *
     * @param lookups of settled claims, many in one query
     */
    record Known(
            PacketStore store,
            PacketCatalog catalog,
            EndedPackets ended,
            GatheredLookups<ClaimAttempt.Key, Claim> lookups,
            Restrictions restrictions) {}

    /** The counter of wrong passcodes, and this event loop's links. */
    record Guesses(PasscodeGuesses counted, RedisLinks redis) {}
}
