package dev.hongbao.packet;

import dev.hongbao.access.Profiles;
import dev.hongbao.access.RateLimits;
import dev.hongbao.http.Call;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Reply;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** One small function for each call on packets, of users and of the host's backend. Confined to its event loop. */
final class PacketRoutes {
    private final Packets packets;
    private final EarlyCloser closing;
    private final Profiles profiles;
    private final RateLimits limits;

    private PacketRoutes(Packets packets, EarlyCloser closing, Profiles profiles, RateLimits limits) {
        this.packets = packets;
        this.closing = closing;
        this.profiles = profiles;
        this.limits = limits;
    }

    /** The routes of packets and claims, by {@code operationId}. */
    static Map<String, Route> of(
            Packets packets,
            ClaimRoutes claims,
            EarlyCloser closing,
            Profiles profiles,
            RateLimits limits,
            HttpFace face) {
        Map<String, Route> routes = face.counted(new PacketRoutes(packets, closing, profiles, limits).byOperation());
        routes.put("claim", face.tracked(claims::claim));
        routes.put("claimForUser", face.tracked(claims::claimForUser));
        routes.put("claimMany", face.tracked(claims::claimMany));
        return routes;
    }

    private Map<String, Route> byOperation() {
        return Map.ofEntries(
                Map.entry("listMyClaims", this::myClaims),
                Map.entry("listMyPackets", this::myPackets),
                Map.entry("getMySummary", this::mySummary),
                Map.entry("sendPacket", this::send),
                Map.entry("listClaims", this::claims),
                Map.entry("getPacket", this::packet),
                Map.entry("listPackets", this::list),
                Map.entry("listUserPackets", this::packetsOfUser),
                Map.entry("listUserClaims", this::claimsOfUser),
                Map.entry("getClaim", this::claim),
                Map.entry("sendPacketForUser", this::sendForUser),
                Map.entry("cancelPacket", this::cancel),
                Map.entry("closePacket", this::close));
    }

    private Future<Reply> myClaims(Call call) {
        return packets.service
                .claimsOf(call.caller().user(), period(call), call.asset(), call.cursor(), call.limit())
                .compose(page -> profiles.of(PacketBodies.givers(page))
                        .map(people -> Reply.json(200, PacketBodies.ownClaims(page, people))));
    }

    private Future<Reply> myPackets(Call call) {
        return packets.service
                .ownOf(
                        call.caller().user(),
                        period(call),
                        call.choice("kind", Packet.Kind.class),
                        call.asset(),
                        call.cursor(),
                        call.limit())
                .compose(page -> profiles.of(PacketView.people(page.items()))
                        .map(people -> Reply.json(200, PacketBodies.packets(page, people))));
    }

    private Future<Reply> mySummary(Call call) {
        return packets.service
                .summaryOf(call.caller().user(), period(call))
                .map(summary -> Reply.json(200, PacketBodies.summary(summary)));
    }

    private static PacketService.Period period(Call call) {
        return new PacketService.Period(call.time("from"), call.time("to"));
    }

    private Future<Reply> send(Call call) {
        SendCommand command = PacketBodies.send(call.requiredBody());
        return limits.mayIssue(call.caller(), command.count())
                .compose(allowed -> packets.service.send(call.caller(), command, call.requiredKey()))
                .map(PacketBodies::sent);
    }

    private Future<Reply> claims(Call call) {
        return packets.service
                .claims(call.caller(), call.packet(), call.cursor(), call.limit())
                .compose(page -> profiles.of(page.people())
                        .map(people -> Reply.json(
                                200, PacketBodies.claims(page, call.caller().user(), people))));
    }

    /** The view differs for the backend. */
    private Future<Reply> packet(Call call) {
        return call.caller().role() == Role.SERVICE
                ? packets.files.find(call.packet()).map(filed -> Reply.kept(PacketBodies.filed(filed)))
                : packets.service
                        .view(call.caller(), call.packet())
                        .compose(view -> shown(view, call.caller().user()));
    }

    private Future<Reply> shown(PacketView view, UserId viewer) {
        Set<UserId> named = new HashSet<>(view.people());
        named.addAll(view.packet().recipientsSeenBy(viewer));
        return profiles.of(named).map(people -> Reply.kept(PacketBodies.packet(view, people, viewer)));
    }

    // --- of the host's backend ---

    private Future<Reply> list(Call call) {
        String group = call.query("group");
        String sender = call.query("sender");
        PacketFiles.Filter filter = new PacketFiles.Filter(
                group == null ? null : new GroupId(group),
                sender == null ? null : new UserId(sender),
                call.choice("status", PacketView.Status.class),
                call.choice("kind", Packet.Kind.class),
                call.asset(),
                call.query("reference"),
                call.time("from"),
                call.time("to"));
        return packets.files
                .list(filter, call.cursor(), call.limit())
                .map(page -> Reply.json(200, PacketBodies.filed(page)));
    }

    private Future<Reply> packetsOfUser(Call call) {
        return packets.files
                .ofUser(call.user(), call.cursor(), call.limit())
                .map(page -> Reply.json(200, PacketBodies.filed(page)));
    }

    private Future<Reply> claimsOfUser(Call call) {
        return packets.service
                .claimsOf(call.user(), PacketService.Period.ALL, call.asset(), call.cursor(), call.limit())
                .map(page -> Reply.json(200, PacketBodies.ownClaims(page, Map.of())));
    }

    private Future<Reply> claim(Call call) {
        return packets.files
                .claim(call.packet(), Math.toIntExact(call.number("slot")))
                .map(claim -> Reply.json(200, PacketBodies.claim(claim)));
    }

    private Future<Reply> sendForUser(Call call) {
        return packets.service
                .send(call.caller(), PacketBodies.send(call.requiredBody(), call.user()), call.requiredKey())
                .map(PacketBodies::sent);
    }

    private Future<Reply> cancel(Call call) {
        return ended(call, closing.cancel(call.packet(), call.caller().user()));
    }

    private Future<Reply> close(Call call) {
        return ended(call, closing.close(call.packet(), call.caller().user()));
    }

    private Future<Reply> ended(Call call, Future<Void> ending) {
        return ending.compose(done -> packets.files.find(call.packet()))
                .map(filed -> Reply.json(200, PacketBodies.filed(filed)));
    }
}
