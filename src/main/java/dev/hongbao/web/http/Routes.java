package dev.hongbao.web.http;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.ledger.Origin;
import dev.hongbao.domain.ledger.TransferKind;
import dev.hongbao.domain.ledger.Wallets;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.domain.packet.PacketKind;
import dev.hongbao.domain.packet.PacketService;
import dev.hongbao.domain.packet.PacketView;
import dev.hongbao.domain.packet.Period;
import dev.hongbao.domain.packet.SendCommand;
import dev.hongbao.domain.profile.Profiles;
import dev.hongbao.web.access.RateLimits;
import dev.hongbao.web.api.Bodies;
import dev.hongbao.web.api.LedgerBodies;
import dev.hongbao.web.api.SendBody;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Map;

/** One small function for each plain call on packets and money: extract, call the service, render. Confined to its event loop. */
public final class Routes {
    private final Wallets wallets;
    private final PacketService packets;
    private final Profiles profiles;
    private final RateLimits limits;

    public Routes(Wallets wallets, PacketService packets, Profiles profiles, RateLimits limits) {
        this.wallets = wallets;
        this.packets = packets;
        this.profiles = profiles;
        this.limits = limits;
    }

    /** By {@code operationId}. */
    public Map<String, Route> byOperation() {
        return Map.ofEntries(
                Map.entry("deposit", this::deposit),
                Map.entry("withdraw", this::withdraw),
                Map.entry("getUserBalances", call -> balances(call.user())),
                Map.entry("listUserTransfers", this::userTransfers),
                Map.entry("getMyBalances", call -> balances(call.caller().user())),
                Map.entry("listMyTransfers", this::myTransfers),
                Map.entry("listMyClaims", this::myClaims),
                Map.entry("listMyPackets", this::myPackets),
                Map.entry("getMySummary", this::mySummary),
                Map.entry("sendPacket", this::send),
                Map.entry("listClaims", this::claims));
    }

    private Future<Reply> deposit(Call call) {
        JsonObject body = call.requiredBody();
        return wallets.deposit(origin(call), call.user(), asset(body), body.getLong("amount"), call.requiredKey())
                .map(entry -> Reply.json(201, LedgerBodies.transfer(entry)));
    }

    private Future<Reply> withdraw(Call call) {
        JsonObject body = call.requiredBody();
        return wallets.withdraw(origin(call), call.user(), asset(body), body.getLong("amount"), call.requiredKey())
                .map(entry -> Reply.json(201, LedgerBodies.transfer(entry)));
    }

    private static Origin origin(Call call) {
        return Origin.of(call.caller(), LedgerBodies.note(call.requiredBody()));
    }

    private static Asset asset(JsonObject body) {
        return new Asset(body.getString("asset"));
    }

    private Future<Reply> balances(UserId user) {
        return wallets.balances(user).map(balances -> Reply.json(200, Bodies.balances(balances)));
    }

    private Future<Reply> userTransfers(Call call) {
        return wallets.transfers(call.user(), filter(call), call.cursor(), call.limit())
                .map(page -> Reply.json(200, LedgerBodies.transfers(page)));
    }

    private Future<Reply> myTransfers(Call call) {
        return wallets.transfers(call.caller().user(), filter(call), call.cursor(), call.limit())
                .map(page -> Reply.json(200, Bodies.transfers(page)));
    }

    private Future<Reply> myClaims(Call call) {
        return packets.claimsOf(call.caller().user(), period(call), call.asset(), call.cursor(), call.limit())
                .compose(page -> profiles.of(Bodies.givers(page))
                        .map(people -> Reply.json(200, Bodies.ownClaims(page, people))));
    }

    private Future<Reply> myPackets(Call call) {
        return packets.ownOf(
                        call.caller().user(),
                        period(call),
                        new PacketService.OwnFilter(call.choice("kind", PacketKind.class), call.asset()),
                        call.cursor(),
                        call.limit())
                .compose(page -> profiles.of(PacketView.people(page.items()))
                        .map(people -> Reply.json(200, Bodies.packets(page, people))));
    }

    private Future<Reply> mySummary(Call call) {
        return packets.summaryOf(call.caller().user(), period(call))
                .map(summary -> Reply.json(200, Bodies.summary(summary)));
    }

    private static Wallets.Filter filter(Call call) {
        return new Wallets.Filter(call.choice("kind", TransferKind.class), call.asset());
    }

    private static Period period(Call call) {
        return new Period(call.time("from"), call.time("to"));
    }

    private Future<Reply> send(Call call) {
        SendCommand command = SendBody.decode(call.requiredBody());
        return limits.mayIssue(call.caller(), command.count())
                .compose(allowed -> packets.send(call.caller(), command, call.requiredKey()))
                .map(Routes::sent);
    }

    /** The answer to a send, new or repeated. */
    static Reply sent(Packet packet) {
        return Reply.json(
                201,
                Bodies.packet(PacketView.ofNew(packet), Map.of(), packet.sender()),
                "Location",
                "/v1/packets/" + packet.id());
    }

    private Future<Reply> claims(Call call) {
        return packets.claims(call.caller(), call.packet(), call.cursor(), call.limit())
                .compose(page -> profiles.of(page.people())
                        .map(people -> Reply.json(
                                200, Bodies.claims(page, call.caller().user(), people))));
    }
}
