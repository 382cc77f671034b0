package dev.hongbao.packet;

import dev.hongbao.access.RateLimits;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.HttpFace.Route;
import java.util.Map;

/** The routes of packets and claims without the services behind them, for tests of what stands in front. */
public final class UnservedPackets {
    private UnservedPackets() {}

    public static Map<String, Route> routes(RateLimits rates, HttpFace face) {
        return PacketRoutes.of(null, new ClaimRoutes(rates, null, null), null, null, rates, face);
    }
}
