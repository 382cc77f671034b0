package dev.hongbao.web.api;

import dev.hongbao.common.json.JsonText;
import dev.hongbao.domain.campaign.CampaignId;
import dev.hongbao.domain.draw.Draw;
import dev.hongbao.domain.draw.DrawCatalog;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.feed.EventRenderer;
import dev.hongbao.domain.feed.EventRow;
import dev.hongbao.domain.feed.EventRow.Of;
import dev.hongbao.domain.feed.FeedEvent;
import dev.hongbao.domain.packet.Claim;
import dev.hongbao.domain.packet.EndedPackets;
import dev.hongbao.domain.packet.EndedPackets.EndedPacket;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.domain.packet.PacketCatalog;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.domain.packet.PacketView;
import dev.hongbao.domain.rain.Rain;
import dev.hongbao.domain.rain.RainCatalog;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;

/** Renders events as the schema {@code Event} of openapi.yaml. Safe on any thread. */
public final class EventText implements EventRenderer {
    private final PacketCatalog catalog;
    private final EndedPackets ended;
    private final DrawCatalog draws;
    private final RainCatalog rains;

    public EventText(PacketCatalog catalog, EndedPackets ended, DrawCatalog draws, RainCatalog rains) {
        this.catalog = catalog;
        this.ended = ended;
        this.draws = draws;
        this.rains = rains;
    }

    /** Renders all, in order. What they need is mostly at hand; otherwise Postgres is asked. */
    @Override
    public Future<List<FeedEvent>> render(List<EventRow> rows) {
        Future<Map<PacketId, Packet>> packets = catalog.findAll(subjects(rows, Of.PACKET, PacketId::new));
        Future<Map<DrawId, Draw>> drawn = draws.findAll(subjects(rows, Of.DRAW, DrawId::new));
        Future<Map<CampaignId, Rain>> raining = rains.findAll(subjects(rows, Of.RAIN, CampaignId::new));
        return Future.all(packets, drawn, raining).compose(found -> {
            List<Future<FeedEvent>> events = new ArrayList<>(rows.size());
            for (EventRow row : rows) {
                Packet packet = packets.result().get(new PacketId(row.subject()));
                Draw draw = drawn.result().get(new DrawId(row.subject()));
                Rain rain = raining.result().get(new CampaignId(row.subject()));
                if (packet != null) {
                    events.add(render(row, packet));
                } else if (draw != null) {
                    events.add(Future.succeededFuture(event(row, ofDraw(begin(row), row, draw))));
                } else if (rain != null) {
                    events.add(Future.succeededFuture(event(row, RainBodies.event(begin(row), row, rain))));
                }
            }
            return Future.all(events)
                    .map(all -> events.stream().map(Future::result).toList());
        });
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
            json.plain("closesAt", draw.definition().closesAt().toString());
        } else if (row.type().equals(EventRow.WON)) {
            json.field("count", row.detail().count()).name("wins").beginArray();
            row.detail()
                    .wins()
                    .forEach(
                            win -> DrawBodies.win(json, win.seq(), win.user(), win.number(), draw.prize(win.number())));
            json.endArray();
        }
        return json;
    }

    private Future<FeedEvent> render(EventRow row, Packet packet) {
        return switch (row.type()) {
            case EventRow.SENT ->
                Future.succeededFuture(event(
                        row, begin(row, sentAt(packet)).name("packet").raw(Bodies.packet(PacketView.ofNew(packet)))));
            case EventRow.PROGRESS -> Future.succeededFuture(event(row, progress(begin(row), row, packet)));
            case EventRow.REFUNDED -> over(packet).map(over -> event(row, refund(begin(row), packet, over)));
            default -> over(packet).map(over -> event(row, end(begin(row), packet, over)));
        };
    }

    /** It is told when it can be claimed; the packet was there before. A rain's drop is news when it falls. */
    private static Instant sentAt(Packet packet) {
        return packet.group().isChannel() ? packet.opensAt() : packet.createdAt();
    }

    /** The event is in the feed because the packet is over: Postgres says so too. */
    private Future<EndedPacket> over(Packet packet) {
        return ended.find(packet.id()).map(Objects::requireNonNull);
    }

    private static JsonText progress(JsonText json, EventRow row, Packet packet) {
        return json.plain("packet", packet.id().toString())
                .field("count", packet.count())
                .name("claimed")
                .beginObject()
                .field("count", row.detail().count())
                .endObject();
    }

    private static JsonText end(JsonText json, Packet packet, EndedPacket over) {
        Claim luckiest = over.luckiest();
        return json.plain("packet", packet.id().toString())
                .field("count", packet.count())
                .name("claimed")
                .beginObject()
                .field("count", over.claimedCount())
                .field("amount", over.claimedAmount())
                .endObject()
                .name("luckiest")
                .raw(luckiest == null ? "null" : Bodies.claim(luckiest));
    }

    private static JsonText refund(JsonText json, Packet packet, EndedPacket over) {
        return json.plain("packet", packet.id().toString())
                .plain("sender", packet.sender().value())
                .plain("asset", packet.asset().code())
                .field("amount", packet.amount() - over.claimedAmount())
                .plain("status", over.status().wireName());
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

    private static FeedEvent event(EventRow row, JsonText json) {
        return new FeedEvent(
                row.group(),
                row.place(),
                row.isProgress(),
                row.subject(),
                json.endObject().endObject().toString());
    }
}
