package dev.hongbao.packet;

import dev.hongbao.ledger.LedgerBodies;
import dev.hongbao.packet.split.SplitAlgorithm;
import dev.hongbao.values.Asset;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads a send from JSON that already fits the contract's {@code Send} schema. */
public final class SendBody {
    private SendBody() {}

    /**
     * The command that a body asks for.
     *
     * @throws InvalidInputException where a value fits the schema but names nothing, or a recipient is named twice
     */
    public static SendCommand decode(JsonObject body) {
        return wish(body).build();
    }

    /**
     * The command of the host's backend for one of its users.
     *
     * @param sender sends and pays
     */
    public static SendCommand decode(JsonObject body, UserId sender) {
        return wish(body).onBehalfOf(sender).build();
    }

    private static SendCommand.Builder wish(JsonObject body) {
        return SendCommand.of(
                        required(body, "group", GroupId::new),
                        required(body, "kind", PacketKind::of),
                        required(body, "asset", Asset::new),
                        body.getLong("amount"),
                        body.getInteger("count"))
                .shares(body.getLong("min"), body.getLong("max"))
                .split(optional(body, "split", SplitAlgorithm::of))
                .greeting(body.getString("greeting"))
                .recipients(recipients(body))
                .passcode(body.getString("passcode"))
                .opensAt(optional(body, "opensAt", SendBody::instant))
                .expiresIn(seconds(body, "expiresInSeconds"))
                .note(LedgerBodies.note(body))
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

    private static <T> T required(JsonObject body, String field, Function<String, T> reader) {
        try {
            return reader.apply(body.getString(field));
        } catch (IllegalArgumentException | DateTimeException unreadable) {
            throw InvalidInputException.of("#/" + field, Text.of("field.not-allowed", unreadable.getMessage()));
        }
    }

    private static <T> @Nullable T optional(JsonObject body, String field, Function<String, T> reader) {
        return body.getString(field) == null ? null : required(body, field, reader);
    }

    private static Instant instant(String text) {
        return OffsetDateTime.parse(text).toInstant().truncatedTo(ChronoUnit.MICROS);
    }

    private static @Nullable Duration seconds(JsonObject body, String field) {
        Integer seconds = body.getInteger(field);
        return seconds == null ? null : Duration.ofSeconds(seconds);
    }
}
