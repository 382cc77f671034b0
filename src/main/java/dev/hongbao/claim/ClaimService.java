package dev.hongbao.claim;

import dev.hongbao.command.Caller;
import dev.hongbao.packet.PacketId;
import org.jspecify.annotations.Nullable;

/** The race for the shares. One instance per event loop; call it on that loop only. */
public final class ClaimService {
    /**
     * Claims a share. Idempotent by (caller, packet): every later answer equals the first settled one.
     *
     * @param passcode what the caller typed; null for none
     */
    public ClaimTicket claim(Caller caller, PacketId packet, @Nullable String passcode) {
        throw new UnsupportedOperationException();
    }
}
