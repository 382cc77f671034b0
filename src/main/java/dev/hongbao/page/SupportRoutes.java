package dev.hongbao.page;

import dev.hongbao.access.Profiles;
import dev.hongbao.draw.DrawBodies;
import dev.hongbao.draw.DrawFiles;
import dev.hongbao.draw.DrawView;
import dev.hongbao.http.Call;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Route;
import dev.hongbao.ledger.Deposits;
import dev.hongbao.ledger.Origin;
import dev.hongbao.packet.EarlyCloser;
import dev.hongbao.packet.PacketBodies;
import dev.hongbao.packet.PacketFiles;
import dev.hongbao.packet.PacketKind;
import dev.hongbao.packet.PacketRoutes;
import dev.hongbao.packet.PacketService;
import dev.hongbao.packet.PacketStatus;
import dev.hongbao.packet.PacketView;
import dev.hongbao.packet.Period;
import dev.hongbao.packet.SendBody;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Role;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The host backend's calls on all users, and the view of a packet, which differs for the backend. Confined to its event loop. */
public final class SupportRoutes {
    private final PacketService packets;
    private final Profiles profiles;
    private final PacketFiles packetFiles;
    private final EarlyCloser closing;
    private final DrawFiles drawFiles;
    private final Deposits deposits;

    public SupportRoutes(
            PacketService packets,
            Profiles profiles,
            PacketFiles packetFiles,
            EarlyCloser closing,
            DrawFiles drawFiles,
            Deposits deposits) {
        this.packets = packets;
        this.profiles = profiles;
        this.packetFiles = packetFiles;
        this.closing = closing;
        this.drawFiles = drawFiles;
        this.deposits = deposits;
    }

    /** By {@code operationId}. */
    public Map<String, Route> byOperation() {
        return Map.ofEntries(
                Map.entry("getPacket", this::packet),
                Map.entry("listPackets", this::list),
                Map.entry("listUserPackets", this::packetsOfUser),
                Map.entry("listUserClaims", this::claimsOfUser),
                Map.entry("listUserPlays", this::playsOfUser),
                Map.entry("getClaim", this::claim),
                Map.entry("getPlay", this::play),
                Map.entry("listDraws", this::draws),
                Map.entry("listGroupDraws", this::drawsOfGroup),
                Map.entry("sendPacketForUser", this::send),
                Map.entry("cancelPacket", this::cancel),
                Map.entry("closePacket", this::close),
                Map.entry("depositMany", this::deposit));
    }

    private Future<Reply> packet(Call call) {
        return call.caller().role() == Role.SERVICE
                ? packetFiles.find(call.packet()).map(filed -> Reply.kept(SupportBodies.packet(filed)))
                : packets.view(call.caller(), call.packet())
                        .compose(view -> shown(view, call.caller().user()));
    }

    private Future<Reply> shown(PacketView view, UserId viewer) {
        Set<UserId> named = new HashSet<>(view.people());
        named.addAll(view.packet().recipientsSeenBy(viewer));
        return profiles.of(named).map(people -> Reply.kept(PacketBodies.packet(view, people, viewer)));
    }

    private Future<Reply> list(Call call) {
        String group = call.query("group");
        String sender = call.query("sender");
        PacketFiles.Filter filter = new PacketFiles.Filter(
                group == null ? null : new GroupId(group),
                sender == null ? null : new UserId(sender),
                call.choice("status", PacketStatus.class),
                call.choice("kind", PacketKind.class),
                call.asset(),
                call.query("reference"),
                call.time("from"),
                call.time("to"));
        return packetFiles
                .list(filter, call.cursor(), call.limit())
                .map(page -> Reply.json(200, SupportBodies.packets(page)));
    }

    private Future<Reply> packetsOfUser(Call call) {
        return packetFiles
                .ofUser(call.user(), call.cursor(), call.limit())
                .map(page -> Reply.json(200, SupportBodies.packets(page)));
    }

    private Future<Reply> claimsOfUser(Call call) {
        return packets.claimsOf(call.user(), Period.ALL, call.asset(), call.cursor(), call.limit())
                .map(page -> Reply.json(200, PacketBodies.ownClaims(page, Map.of())));
    }

    private Future<Reply> playsOfUser(Call call) {
        return drawFiles
                .playsOf(call.user(), call.cursor(), call.limit())
                .map(page -> Reply.json(200, DrawBodies.plays(page, Map.of())));
    }

    private Future<Reply> claim(Call call) {
        return packetFiles
                .claim(call.packet(), Math.toIntExact(number(call, "slot")))
                .map(claim -> Reply.json(200, PacketBodies.claim(claim)));
    }

    private Future<Reply> play(Call call) {
        return drawFiles.play(call.draw(), number(call, "seq")).map(play -> Reply.json(200, DrawBodies.play(play)));
    }

    private static long number(Call call, String name) {
        try {
            return Long.parseLong(Objects.requireNonNull(call.path().get(name)));
        } catch (NumberFormatException malformed) {
            throw InvalidInputException.of("path/" + name, Text.of("field.number"));
        }
    }

    private Future<Reply> draws(Call call) {
        String group = call.query("group");
        String owner = call.query("owner");
        DrawFiles.Filter filter = new DrawFiles.Filter(
                call.choice("status", DrawView.Status.class),
                group == null ? null : new GroupId(group),
                owner == null ? null : new UserId(owner));
        return drawFiles
                .list(filter, call.cursor(), call.limit())
                .map(page -> Reply.json(200, SupportBodies.draws(page)));
    }

    private Future<Reply> drawsOfGroup(Call call) {
        return drawFiles
                .ofGroup(
                        call.caller(),
                        call.group(),
                        call.choice("status", DrawView.Status.class),
                        call.cursor(),
                        call.limit())
                .map(page -> Reply.json(200, SupportBodies.draws(page)));
    }

    private Future<Reply> send(Call call) {
        return packets.send(call.caller(), SendBody.decode(call.requiredBody(), call.user()), call.requiredKey())
                .map(PacketRoutes::sent);
    }

    private Future<Reply> cancel(Call call) {
        return ended(call, closing.cancel(call.packet(), call.caller().user()));
    }

    private Future<Reply> close(Call call) {
        return ended(call, closing.close(call.packet(), call.caller().user()));
    }

    private Future<Reply> ended(Call call, Future<Void> ending) {
        return ending.compose(done -> packetFiles.find(call.packet()))
                .map(filed -> Reply.json(200, SupportBodies.packet(filed)));
    }

    private Future<Reply> deposit(Call call) {
        return deposits.deposit(
                        Origin.of(call.caller()), SupportBodies.deposits(call.requiredBody()), call.requiredKey())
                .map(entries -> Reply.json(201, SupportBodies.deposited(entries)));
    }
}
