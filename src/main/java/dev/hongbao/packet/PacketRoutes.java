package dev.hongbao.packet;

import dev.hongbao.access.Profiles;
import dev.hongbao.access.RateLimits;
import dev.hongbao.http.Call;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Route;
import io.vertx.core.Future;
import java.util.Map;

/** One small function for each plain call on packets: extract, call the service, render. Confined to its event loop. */
public final class PacketRoutes {
    private final PacketService packets;
    private final Profiles profiles;
    private final RateLimits limits;

    public PacketRoutes(PacketService packets, Profiles profiles, RateLimits limits) {
        this.packets = packets;
        this.profiles = profiles;
        this.limits = limits;
    }

    /** By {@code operationId}. */
    public Map<String, Route> byOperation() {
        return Map.ofEntries(
                Map.entry("listMyClaims", this::myClaims),
                Map.entry("listMyPackets", this::myPackets),
                Map.entry("getMySummary", this::mySummary),
                Map.entry("sendPacket", this::send),
                Map.entry("listClaims", this::claims));
    }

    private Future<Reply> myClaims(Call call) {
        return packets.claimsOf(call.caller().user(), period(call), call.asset(), call.cursor(), call.limit())
                .compose(page -> profiles.of(PacketBodies.givers(page))
                        .map(people -> Reply.json(200, PacketBodies.ownClaims(page, people))));
    }

    private Future<Reply> myPackets(Call call) {
        return packets.ownOf(
                        call.caller().user(),
                        period(call),
                        new PacketService.OwnFilter(call.choice("kind", PacketKind.class), call.asset()),
                        call.cursor(),
                        call.limit())
                .compose(page -> profiles.of(PacketView.people(page.items()))
                        .map(people -> Reply.json(200, PacketBodies.packets(page, people))));
    }

    private Future<Reply> mySummary(Call call) {
        return packets.summaryOf(call.caller().user(), period(call))
                .map(summary -> Reply.json(200, PacketBodies.summary(summary)));
    }

    private static Period period(Call call) {
        return new Period(call.time("from"), call.time("to"));
    }

    private Future<Reply> send(Call call) {
        SendCommand command = SendBody.decode(call.requiredBody());
        return limits.mayIssue(call.caller(), command.count())
                .compose(allowed -> packets.send(call.caller(), command, call.requiredKey()))
                .map(PacketRoutes::sent);
    }

    /** The answer to a send, new or repeated. */
    public static Reply sent(Packet packet) {
        return Reply.json(
                201,
                PacketBodies.packet(PacketView.ofNew(packet), Map.of(), packet.sender()),
                "Location",
                "/v1/packets/" + packet.id());
    }

    private Future<Reply> claims(Call call) {
        return packets.claims(call.caller(), call.packet(), call.cursor(), call.limit())
                .compose(page -> profiles.of(page.people())
                        .map(people -> Reply.json(
                                200, PacketBodies.claims(page, call.caller().user(), people))));
    }
}
