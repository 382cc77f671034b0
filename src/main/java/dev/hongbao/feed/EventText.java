package dev.hongbao.feed;

import dev.hongbao.access.Profile;
import dev.hongbao.access.Profiles;
import dev.hongbao.campaign.Campaigns;
import dev.hongbao.campaign.Rain;
import dev.hongbao.draw.Draw;
import dev.hongbao.draw.DrawBodies;
import dev.hongbao.draw.Draws;
import dev.hongbao.feed.EventRow.Of;
import dev.hongbao.feed.FeedService.FeedPage;
import dev.hongbao.packet.Claim;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.PacketBodies;
import dev.hongbao.packet.PacketService;
import dev.hongbao.packet.PacketService.End;
import dev.hongbao.packet.PacketView;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Renders events as the schema {@code Event} of openapi.yaml. Thread-safe. */
final class EventText {
    /** Events that need the packet's end. */
    private static final Set<String> TELLS_END = Set.of(EventRow.DRAINED, EventRow.EXPIRED, EventRow.REFUNDED);

    private static final Logger LOG = LoggerFactory.getLogger(EventText.class);

    private final Set<String> passedOver = ConcurrentHashMap.newKeySet();
    private final PacketService packets;
    private final Draws draws;
    private final Campaigns campaigns;
    private final Profiles profiles;

    EventText(PacketService packets, Draws draws, Campaigns campaigns, Profiles profiles) {
        this.packets = packets;
        this.draws = draws;
        this.campaigns = campaigns;
        this.profiles = profiles;
    }

    /**
     * Renders the rows in order; skips types that only a newer version knows. Reads missing data from Postgres, one query per
     * kind of data. Fails if Postgres does not answer.
     */
    Future<List<FeedPage.Event>> render(List<EventRow> rows) {
        return renderKnown(rows.stream().filter(this::isKnown).toList());
    }

    private boolean isKnown(EventRow row) {
        boolean known = row.of() != Of.UNKNOWN;
        if (!known && passedOver.add(row.type())) {
            LOG.warn("events {} of a newer version are passed over", row.type());
        }
        return known;
    }

    private Future<List<FeedPage.Event>> renderKnown(List<EventRow> rows) {
        Future<Map<PacketId, Packet>> sent = packets.terms(subjects(rows, Of.PACKET, PacketId::new));
        Future<Map<DrawId, Draw>> drawn = draws.findAll(subjects(rows, Of.DRAW, DrawId::new));
        Future<Map<CampaignId, Rain>> raining = campaigns.findRains(subjects(rows, Of.RAIN, CampaignId::new));
        return Future.all(sent, drawn, raining)
                .compose(found -> over(rows, sent.result()))
                .compose(over -> {
                    Map<PacketId, Packet> known = sent.result();
                    List<UserId> named = rows.stream()
                            .flatMap(row -> people(row, known, over).stream())
                            .toList();
                    return profiles.of(named).map(people -> {
                        List<FeedPage.Event> events = new ArrayList<>(rows.size());
                        for (EventRow row : rows) {
                            Packet packet = known.get(new PacketId(row.subject()));
                            Draw draw = drawn.result().get(new DrawId(row.subject()));
                            Rain rain = raining.result().get(new CampaignId(row.subject()));
                            JsonText json = packet != null && row.type().equals(EventRow.SENT)
                                    ? begin(row, sentAt(packet))
                                    : begin(row);
                            if (packet != null && TELLS_END.contains(row.type()) && !over.containsKey(packet.id())) {
                                continue;
                            } else if (packet != null) {
                                ofPacket(json, row, packet, over.get(packet.id()), people);
                            } else if (draw != null) {
                                ofDraw(json, row, draw);
                            } else if (rain != null) {
                                ofRain(json, row, rain);
                            } else {
                                continue;
                            }
                            if (!row.type().equals(EventRow.SENT)) { // it is in the packet's event
                                Profile.people(json, people(row, known, over), people);
                            }
                            events.add(event(row, json));
                        }
                        return events;
                    });
                });
    }

    /** The ends of packets whose end event is in the rows. A packet is absent if its month has been put away since. */
    private Future<Map<PacketId, End>> over(List<EventRow> rows, Map<PacketId, Packet> known) {
        Set<PacketId> asked = rows.stream()
                .filter(row -> TELLS_END.contains(row.type()))
                .map(row -> new PacketId(row.subject()))
                .filter(known::containsKey)
                .collect(Collectors.toSet());
        return packets.ends(asked);
    }

    /** Whom an event names. */
    private static Set<UserId> people(EventRow row, Map<PacketId, Packet> known, Map<PacketId, End> over) {
        Packet packet = known.get(new PacketId(row.subject()));
        if (packet == null) {
            return row.wins().stream().map(EventRow.Win::user).collect(Collectors.toSet());
        }
        End end = over.get(packet.id());
        return switch (row.type()) {
            case EventRow.SENT -> PacketView.ofNew(packet).people();
            case EventRow.PROGRESS -> Set.of();
            case EventRow.REFUNDED -> Set.of(packet.sender());
            default ->
                end == null || end.luckiest() == null
                        ? Set.of()
                        : Set.of(end.luckiest().user());
        };
    }

    private static <I> List<I> subjects(List<EventRow> rows, Of of, Function<UUID, I> id) {
        return rows.stream()
                .filter(row -> row.of() == of)
                .map(EventRow::subject)
                .distinct()
                .map(id)
                .toList();
    }

    private static JsonText ofDraw(JsonText json, EventRow row, Draw draw) {
        json.plain("draw", draw.id().toString()).field("name", draw.definition().name());
        if (row.type().equals(EventRow.OPENED)) {
            json.plain("closesAt", draw.definition().closesAt().toString())
                    .name("metadata")
                    .raw(draw.definition().metadata().json());
        } else if (row.type().equals(EventRow.WON)) {
            json.field("count", row.count());
            json.items(
                    "wins",
                    row.wins(),
                    (out, win) -> DrawBodies.win(out, win.seq(), win.user(), win.number(), draw.prize(win.number())));
        }
        return json;
    }

    private static JsonText ofPacket(
            JsonText json, EventRow row, Packet packet, @Nullable End over, Map<UserId, Profile> people) {
        return switch (row.type()) {
            case EventRow.SENT -> json.name("packet").raw(PacketBodies.packet(PacketView.ofNew(packet), people));
            case EventRow.PROGRESS -> progress(json, row, packet);
            case EventRow.REFUNDED -> refund(json, packet, Objects.requireNonNull(over));
            default -> end(json, packet, Objects.requireNonNull(over));
        };
    }

    /** In a channel, the moment from which the packet can be claimed, such as a rain drop's fall; otherwise its creation. */
    private static Instant sentAt(Packet packet) {
        return packet.group().isChannel() ? packet.opensAt() : packet.createdAt();
    }

    private static JsonText progress(JsonText json, EventRow row, Packet packet) {
        return json.plain("packet", packet.id().toString())
                .field("count", packet.count())
                .name("claimed")
                .beginObject()
                .field("count", row.count())
                .endObject();
    }

    private static JsonText end(JsonText json, Packet packet, End over) {
        Claim luckiest = over.luckiest();
        json.plain("packet", packet.id().toString()).field("count", packet.count());
        return claimed(json, over).name("luckiest").raw(luckiest == null ? "null" : PacketBodies.claim(luckiest));
    }

    private static JsonText claimed(JsonText json, End over) {
        return json.name("claimed")
                .beginObject()
                .field("count", over.claimedCount())
                .field("amount", over.claimedAmount())
                .endObject();
    }

    private static JsonText refund(JsonText json, Packet packet, End over) {
        json.plain("packet", packet.id().toString())
                .plain("sender", packet.sender().value())
                .plain("asset", packet.asset().code())
                .field("amount", packet.amount() - over.claimedAmount())
                .plain("status", over.status().wireName());
        return claimed(json, over);
    }

    private static JsonText begin(EventRow row) {
        return begin(row, row.at());
    }

    private static JsonText begin(EventRow row, Instant at) {
        return new JsonText(512)
                .beginObject()
                .plain("group", row.group().value())
                .plain("cursor", Long.toString(row.place()))
                .plain("type", row.type())
                .plain("at", at.toString())
                .name("data")
                .beginObject();
    }

    private static FeedPage.Event event(EventRow row, JsonText json) {
        return FeedPage.Event.of(
                row.group(),
                row.place(),
                row.isProgress(),
                row.subject(),
                json.endObject().endObject().toString());
    }

    /** Writes the data of a rain's event. */
    private static JsonText ofRain(JsonText json, EventRow row, Rain rain) {
        json.plain("rain", rain.id().toString()).plain("channel", rain.channel().value());
        switch (row.type()) {
            case EventRow.ANNOUNCED -> {
                json.field("name", rain.definition().name())
                        .name("metadata")
                        .raw(rain.definition().metadata().json())
                        .plain("asset", rain.definition().asset().code())
                        .field("budget", rain.definition().budget())
                        .plain("endsAt", rain.definition().fall().endsAt().toString());
                rain.writeTerms(json);
            }
            case EventRow.STARTED ->
                json.plain("endsAt", rain.definition().fall().endsAt().toString())
                        .field("firstTapWithin", rain.definition().fall().firstTapWithinMillis());
            default ->
                json.plain("asset", rain.definition().asset().code())
                        .name("caught")
                        .beginObject()
                        .field("count", row.count())
                        .field("amount", row.amount())
                        .endObject();
        }
        return json;
    }
}
