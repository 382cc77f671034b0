package dev.hongbao.page;

import dev.hongbao.draw.DrawFiles;
import dev.hongbao.ledger.Deposits.Deposit;
import dev.hongbao.ledger.LedgerBodies;
import dev.hongbao.ledger.Note;
import dev.hongbao.ledger.WalletRecord;
import dev.hongbao.packet.PacketBodies;
import dev.hongbao.packet.PacketFiles;
import dev.hongbao.values.Asset;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** JSON of calls with which the host's backend reads all users' data or acts for many users. */
final class SupportBodies {
    private static final int DRAW_LENGTH = 320;
    private static final int TRANSFER_LENGTH = 256;

    private SupportBodies() {}

    public static String packet(PacketFiles.Filed packet) {
        JsonText json = new JsonText(PacketBodies.PACKET_LENGTH);
        packet(json, packet);
        return json.toString();
    }

    public static String packets(Page<PacketFiles.Filed> page) {
        return JsonText.page(page.items(), page.next(), PacketBodies.PACKET_LENGTH, SupportBodies::packet)
                .endObject()
                .toString();
    }

    private static void packet(JsonText json, PacketFiles.Filed packet) {
        PacketBodies.fields(json, packet.view())
                .name("file")
                .beginObject()
                .field("held", packet.held())
                .field("refunded", packet.refunded())
                .name("recipients")
                .beginArray();
        packet.view().packet().recipients().stream().map(UserId::value).sorted().forEach(user -> json.plain(user));
        json.endArray()
                .field("sentBy", text(packet.sentBy()))
                .field("closedAt", time(packet.closedAt()))
                .field("endedBy", text(packet.endedBy()))
                .endObject()
                .endObject();
    }

    private static @Nullable String text(@Nullable UserId user) {
        return user == null ? null : user.value();
    }

    private static @Nullable String time(@Nullable Instant moment) {
        return moment == null ? null : moment.toString();
    }

    public static String draws(Page<DrawFiles.Summary> page) {
        return JsonText.page(page.items(), page.next(), DRAW_LENGTH, SupportBodies::draw)
                .endObject()
                .toString();
    }

    private static void draw(JsonText json, DrawFiles.Summary draw) {
        json.beginObject()
                .plain("id", draw.id().toString())
                .field("name", draw.name())
                .name("metadata")
                .raw(draw.metadata().json())
                .plain("owner", draw.owner().value())
                .field("group", draw.group() == null ? null : draw.group().value())
                .plain("mode", draw.mode().wireName())
                .plain("status", draw.status().name().toLowerCase(Locale.ROOT))
                .plain("createdAt", draw.times().createdAt().toString())
                .plain("opensAt", draw.times().opensAt().toString())
                .plain("closesAt", draw.times().closesAt().toString())
                .endObject();
    }

    /** The deposits that a body asks for, which fits the contract's {@code DepositBatch} schema. */
    public static List<Deposit> deposits(JsonObject body) {
        JsonArray wishes = body.getJsonArray("deposits");
        List<Deposit> deposits = new ArrayList<>(wishes.size());
        for (int i = 0; i < wishes.size(); i++) {
            JsonObject wish = wishes.getJsonObject(i);
            String user = wish.getString("user");
            if (!UserId.isValid(user)) {
                throw InvalidInputException.of("#/deposits/" + i + "/user", Text.of("user.id"));
            }
            deposits.add(new Deposit(
                    new UserId(user), new Asset(wish.getString("asset")), wish.getLong("amount"), note(wish, i)));
        }
        return deposits;
    }

    private static Note note(JsonObject wish, int i) {
        try {
            return new Note(wish.getString("reference"), wish.getString("reason"));
        } catch (IllegalArgumentException wrong) {
            throw InvalidInputException.of(
                    "#/deposits/" + i + "/reason", Text.of("field.not-allowed", wrong.getMessage()));
        }
    }

    /** The entries of deposits, in order. */
    public static String deposited(List<WalletRecord> entries) {
        JsonText json = new JsonText(TRANSFER_LENGTH * (entries.size() + 1))
                .beginObject()
                .name("items")
                .beginArray();
        entries.forEach(entry -> LedgerBodies.transfer(json, entry));
        return json.endArray().endObject().toString();
    }
}
