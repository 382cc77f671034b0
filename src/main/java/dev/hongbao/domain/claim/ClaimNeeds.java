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

/** What all claims of an event loop share. */
record ClaimNeeds(
        Attempt.Shared<ClaimAttempt.Key, Claim> shared,
        Stations stations,
        Known known,
        Guesses guesses,
        ClaimMetrics metrics,
        Clock clock) {

    /** What a claim that is to be settled passes, in this order. */
    record Stations(AdmissionControl.Gate gate, ClaimBatcher batcher) {}

    /** Where packets and settled claims are looked up. @param lookups of settled claims, many in one query */
    record Known(
            PacketStore store,
            PacketCatalog catalog,
            EndedPackets ended,
            GatheredLookups<ClaimAttempt.Key, Claim> lookups,
            Restrictions restrictions) {}

    /** Wrong passcodes, counted over a link of this event loop. */
    record Guesses(PasscodeGuesses counted, RedisLinks redis) {}
}
