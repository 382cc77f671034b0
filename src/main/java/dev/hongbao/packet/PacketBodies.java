package dev.hongbao.packet;

import dev.hongbao.access.Profile;
import dev.hongbao.http.Problem;
import dev.hongbao.http.ProblemType;
import dev.hongbao.http.Reply;
import dev.hongbao.ledger.Origin.Note;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.PacketService.ClaimsPage;
import dev.hongbao.packet.PacketService.OwnClaim;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.values.Asset;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.Page;
import dev.hongbao.values.Reason;
import dev.hongbao.values.Text;
import dev.hongbao.values.Times;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Sends, packets and claims as the contract's JSON, by hand, so that no reflection decides what a client sees. */
public final class PacketBodies {
    private static final int CLAIM_LENGTH = 256;
    private static final int PACKET_LENGTH = 1024;

    private PacketBodies() {}

    /**
     * The command that a body asks for, which fits the contract's {@code Send} schema.
     *
     * @throws InvalidInputException for an impossible time, or a recipient that is no user or is named twice
     */
    public static SendCommand send(JsonObject body) {
        return wish(body).build();
    }

    /**
     * The command of the host's backend for one of its users.
     *
     * @param sender sends and pays
     */
    public static SendCommand send(JsonObject body, UserId sender) {
        return wish(body).onBehalfOf(sender).build();
    }

    private static SendCommand.Builder wish(JsonObject body) {
        String opensAt = body.getString("opensAt");
        String split = body.getString("split");
        return SendCommand.of(
                        new GroupId(body.getString("group")),
                        Packet.Kind.of(body.getString("kind")),
                        new Asset(body.getString("asset")),
                        body.getLong("amount"),
                        body.getInteger("count"))
                .shares(body.getLong("min"), body.getLong("max"))
                .split(split == null ? null : SplitAlgorithm.of(split))
                .greeting(body.getString("greeting"))
                .recipients(recipients(body))
                .passcode(body.getString("passcode"))
                .opensAt(opensAt == null ? null : Times.read("#/opensAt", opensAt))
                .expiresIn(seconds(body, "expiresInSeconds"))
                .note(Note.read(body))
                .metadata(Metadata.ofJson(body.getJsonObject("metadata")));
    }

    private static List<UserId> recipients(JsonObject body) {
        JsonArray named = body.getJsonArray("recipients");
        if (named == null) {
            return List.of();
        }
        // The contract's uniqueItems, checked here in linear time: a general check took 150 ms for 1,000 names.
        Set<String> seen = new HashSet<>();
        List<UserId> recipients = new ArrayList<>(named.size());
        for (int i = 0; i < named.size(); i++) {
            String name = named.getString(i);
            String place = "#/recipients/" + i;
            if (!UserId.isValid(name)) {
                throw InvalidInputException.of(place, Text.of("user.id"));
            }
            if (!seen.add(name)) {
                throw InvalidInputException.of(place, Text.of("user.named-twice"));
            }
            recipients.add(new UserId(name));
        }
        return recipients;
    }

    private static @Nullable Duration seconds(JsonObject body, String field) {
        Integer seconds = body.getInteger(field);
        return seconds == null ? null : Duration.ofSeconds(seconds);
    }

    public static String claim(Claim claim) {
        return JsonText.of(CLAIM_LENGTH, claim, (json, won) -> claim(json, won, true));
    }

    /** The answer to a send, new or repeated. */
    public static Reply sent(Packet packet) {
        return Reply.json(
                201,
                packet(PacketView.ofNew(packet), Map.of(), packet.sender()),
                "Location",
                "/v1/packets/" + packet.id());
    }

    /** The packet as one viewer may see it: amounts that the view leaves out are left out. */
    public static String packet(PacketView view) {
        return packet(view, Map.of());
    }

    /** As {@link #packet(PacketView)}, with profiles. @param people profiles of the users whom the packet names */
    public static String packet(PacketView view, Map<UserId, Profile> people) {
        return JsonText.of(PACKET_LENGTH, view, (json, shown) -> packet(json, shown, people));
    }

    /** Adds the recipients that the viewer may see. @param people also their profiles */
    public static String packet(PacketView view, Map<UserId, Profile> people, UserId viewer) {
        JsonText json = new JsonText(PACKET_LENGTH);
        fields(json, view);
        Set<UserId> named = new HashSet<>(view.people());
        List<UserId> recipients = view.packet().recipientsSeenBy(viewer).stream()
                .sorted(Comparator.comparing(UserId::value))
                .toList();
        if (!recipients.isEmpty()) {
            json.name("recipients")
                    .raw(new JsonArray(recipients.stream().map(UserId::value).toList()).encode());
            named.addAll(recipients);
        }
        if (!people.isEmpty()) {
            Profile.people(json, named, people);
        }
        return json.endObject().toString();
    }

    public static String packets(Page<PacketView> page, Map<UserId, Profile> people) {
        return JsonText.page(page, PACKET_LENGTH, (json, view) -> packet(json, view, people));
    }

    /** A packet for the host's backend. */
    static String filed(PacketFiles.Filed packet) {
        return JsonText.of(PACKET_LENGTH, packet, PacketBodies::filed);
    }

    static String filed(Page<PacketFiles.Filed> page) {
        return JsonText.page(page, PACKET_LENGTH, PacketBodies::filed);
    }

    private static void filed(JsonText json, PacketFiles.Filed packet) {
        List<String> recipients = packet.view().packet().recipients().stream()
                .map(UserId::value)
                .sorted()
                .toList();
        fields(json, packet.view())
                .name("file")
                .beginObject()
                .field("held", packet.held())
                .field("refunded", packet.refunded())
                .items("recipients", recipients, JsonText::plain)
                .text("sentBy", packet.sentBy())
                .text("closedAt", packet.closedAt())
                .text("endedBy", packet.endedBy())
                .endObject()
                .endObject();
    }

    /** The viewer's own claims, with amounts. @param people profiles of the senders */
    public static String ownClaims(Page<OwnClaim> page, Map<UserId, Profile> people) {
        JsonText json = JsonText.page(page.items(), page.next(), CLAIM_LENGTH, (out, own) -> {
            fields(out.beginObject(), own.claim(), true);
            out.plain("sender", own.sender().value()).field("luckiest", own.luckiest());
            pool(out, own.pool());
            out.endObject();
        });
        Profile.people(json, givers(page), people);
        return json.endObject().toString();
    }

    /** The senders of the claimed packets. */
    public static Set<UserId> givers(Page<OwnClaim> page) {
        return page.items().stream().map(OwnClaim::giver).collect(Collectors.toSet());
    }

    /** The viewer's totals, received and sent. */
    public static String summary(PacketService.Summary summary) {
        return new JsonText(CLAIM_LENGTH)
                .beginObject()
                .objects(
                        "received",
                        summary.received(),
                        (json, each) -> json.plain("asset", each.asset().code())
                                .field("count", each.count())
                                .sum("amount", each.amount())
                                .field("luckiest", each.luckiest()))
                .objects(
                        "sent",
                        summary.sent(),
                        (json, each) -> json.plain("asset", each.asset().code())
                                .field("count", each.count())
                                .sum("amount", each.amount())
                                .sum("refunded", each.refunded()))
                .endObject()
                .toString();
    }

    /**
     * A packet's claims; amounts of others only where the page says so.
     *
     * @param viewer whose own amount is always shown
     * @param people profiles of the claimants
     */
    public static String claims(ClaimsPage page, UserId viewer, Map<UserId, Profile> people) {
        JsonText json = JsonText.page(
                page.claims().items(),
                page.claims().next(),
                CLAIM_LENGTH,
                (out, claim) ->
                        claim(out, claim, page.amountsVisible() || claim.user().equals(viewer)));
        json.object("luckiest", page.luckiest(), (out, claim) -> fields(out, claim, true));
        Profile.people(json, page.people(), people);
        return json.endObject().toString();
    }

    private static void claim(JsonText json, Claim claim, boolean withAmount) {
        fields(json.beginObject(), claim, withAmount);
        json.endObject();
    }

    private static void fields(JsonText json, Claim claim, boolean withAmount) {
        json.plain("packet", claim.packet().toString())
                .plain("user", claim.user().value())
                .field("slot", claim.slot());
        if (withAmount) {
            json.field("amount", claim.amount());
        }
        json.plain("asset", claim.asset().code())
                .plain("status", claim.at() == null ? "accepted" : "settled")
                .text("at", claim.at());
    }

    private static void pool(JsonText json, PoolTerms.@Nullable Label label) {
        json.object(
                "campaign",
                label,
                (out, pool) -> out.plain("id", pool.campaign().toString())
                        .field("name", pool.name())
                        .plain("product", pool.product())
                        .plain("openedBy", pool.opener().value()));
    }

    private static void packet(JsonText json, PacketView view, Map<UserId, Profile> people) {
        fields(json, view);
        if (!people.isEmpty()) {
            Profile.people(json, view.people(), people);
        }
        json.endObject();
    }

    /** Leaves the object open for further fields. */
    private static JsonText fields(JsonText json, PacketView view) {
        Packet packet = view.packet();
        json.beginObject()
                .plain("id", packet.id().toString())
                .plain("group", packet.group().value())
                .plain("sender", packet.sender().value())
                .plain("kind", packet.kind().wireName())
                .plain("asset", packet.asset().code())
                .field("amount", packet.amount())
                .field("count", packet.count())
                .field("min", packet.terms().min())
                .field("max", packet.terms().max())
                .plain("split", packet.terms().algorithm().wireName())
                .field("splitVersion", packet.commitment().splitVersion())
                .field("greeting", packet.greeting())
                .name("metadata")
                .raw(packet.metadata().json())
                .field("passcodeRequired", packet.passcode() != null)
                .plain("status", view.status().wireName())
                .plain("createdAt", packet.createdAt().toString())
                .plain("opensAt", packet.opensAt().toString())
                .plain("expiresAt", packet.expiresAt().toString());
        json.name("claimed").beginObject().field("count", view.claimedCount());
        if (view.claimedAmount() != null) {
            json.field("amount", view.claimedAmount());
        }
        json.endObject();
        pool(json, packet.pool() == null ? null : packet.pool().label());
        json.object("mine", view.mine(), (out, claim) -> fields(out, claim, true));
        json.object("luckiest", view.luckiest(), (out, claim) -> fields(out, claim, true));
        json.plain("commitment", packet.commitment().digest());
        return json.field("seed", view.seed());
    }

    /**
     * The problem of a claim that was refused.
     *
     * @throws IllegalArgumentException for an outcome that has a claim
     */
    public static Problem problem(ClaimOutcome refused) {
        return switch (refused.kind()) {
            case NOT_FOUND -> Problem.of(ProblemType.NOT_FOUND, Text.of("packet.not-found"));
            case NOT_ELIGIBLE -> Problem.notEligible(refused.reason(), Text.of("not-eligible.packet-group"));
            case LIMITED -> ofLimit(refused.reason());
            case DRAINED -> Problem.of(ProblemType.DRAINED);
            case EXPIRED -> Problem.of(ProblemType.EXPIRED);
            case NOT_OPEN_YET -> Problem.of(ProblemType.NOT_OPEN_YET);
            case WRONG_PASSCODE -> Problem.of(ProblemType.WRONG_PASSCODE);
            case ACCEPTED, CLAIMED, ALREADY_CLAIMED ->
                throw new IllegalArgumentException(refused.kind() + " is no problem");
        };
    }

    private static Problem ofLimit(@Nullable Reason reason) {
        Text detail = reason == Reason.DAY
                ? Text.of("limited.day")
                : reason == Reason.PRODUCT ? Text.of("limited.product") : Text.of("limited.total");
        return Problem.of(ProblemType.LIMITED, detail).because(reason);
    }
}
