package dev.hongbao.domain.claim;

import dev.hongbao.common.values.Caller;
import dev.hongbao.domain.claim.ClaimOutcome.Kind;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.domain.packet.Passcode;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Checks a claim against the packet's terms, without any store. A pure function. */
final class ClaimTerms {
    private ClaimTerms() {}

    /**
     * The refusal, or null if the claim may race.
     *
     * @param passcode the caller's text; null for none
     * @param clock this server's, which may lag
     */
    static @Nullable Kind refusal(Packet packet, Caller caller, @Nullable String passcode, Instant clock) {
        // A server with the packet's row knows that its creation is past.
        Instant now = clock.isBefore(packet.createdAt()) ? packet.createdAt() : clock;
        if (packet.unfit(caller) != null) {
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
}
