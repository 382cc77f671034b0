package dev.hongbao.domain.claim;

import dev.hongbao.common.values.Caller;
import dev.hongbao.domain.claim.ClaimOutcome.Kind;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.domain.packet.Passcode;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What a packet's terms say to a claim, before anybody is asked who was first. A pure function. */
final class ClaimTerms {
    private ClaimTerms() {}

    /**
     * Why the claim is refused; null when it may race.
     *
     * @param passcode what the caller typed; null for none
     * @param clock this server's, which may lag
     */
    static @Nullable Kind refusal(Packet packet, Caller caller, @Nullable String passcode, Instant clock) {
        // Who has a packet's row knows that it is past its sending.
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
