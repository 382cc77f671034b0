package dev.hongbao.web.http;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.Page;
import dev.hongbao.common.values.UserId;
import dev.hongbao.common.values.Uuids;
import dev.hongbao.domain.campaign.CampaignId;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.packet.PacketId;
import io.vertx.core.json.JsonObject;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A request that fits the contract.
 *
 * @param exchange for preferences, connection data and streamed answers
 * @param from null if the call needs no token
 * @param path parameters by name
 * @param query parameters by name
 * @param key null when the call needs none
 * @param json the body; null for none
 */
public record Call(
        Exchange exchange,
        @Nullable Caller from,
        Map<String, String> path,
        Map<String, Object> query,
        @Nullable IdempotencyKey key,
        @Nullable JsonObject json) {

    /** A copy with the body. */
    Call with(JsonObject body) {
        return new Call(exchange, from, path, query, key, body);
    }

    /** The caller of a call that needs a token. */
    Caller caller() {
        return given(from, "token");
    }

    /** The key of a call whose contract requires it. */
    IdempotencyKey requiredKey() {
        return given(key, "Idempotency-Key");
    }

    /** The body of a call whose contract requires it. */
    JsonObject requiredBody() {
        return given(json, "body");
    }

    /** The user that the path names. */
    UserId user() {
        return new UserId(given(path.get("user"), "user"));
    }

    /** The group that the path names. */
    GroupId group() {
        return new GroupId(given(path.get("group"), "group"));
    }

    /** The packet that the path names. */
    PacketId packet() {
        return id("packet", Text.of("id.packet"), PacketId::parse);
    }

    /** The draw that the path names. */
    DrawId draw() {
        return id("draw", Text.of("id.draw"), DrawId::parse);
    }

    /** The place in its draw of the play that the path names. */
    long play() {
        return Long.parseLong(given(path.get("seq"), "seq"));
    }

    /** The campaign that the path names. */
    CampaignId campaign() {
        return id("campaign", Text.of("id.campaign"), CampaignId::parse);
    }

    /** The rain that the path names. */
    CampaignId rain() {
        return id("rain", Text.of("id.rain"), CampaignId::parse);
    }

    /** The webhook that the path names. */
    UUID webhook() {
        return id("webhook", Text.of("id.webhook"), Uuids::parse);
    }

    private <I> I id(String name, Text malformed, Function<String, @Nullable I> parse) {
        I id = parse.apply(given(path.get(name), name));
        if (id == null) {
            throw InvalidInputException.of("path/" + name, malformed);
        }
        return id;
    }

    /** A parameter of the query; null when it is not given. */
    @Nullable
    String query(String name) {
        return (String) query.get(name);
    }

    /** One of an enum's names in lower case, that the query names; null when it does not. */
    <E extends Enum<E>> @Nullable E choice(String name, Class<E> type) {
        String text = query(name);
        return text == null
                ? null
                : Enum.valueOf(type, text.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    /** A time that the query names; null when it does not. */
    @Nullable
    Instant time(String name) {
        String text = query(name);
        try {
            return text == null ? null : OffsetDateTime.parse(text).toInstant().truncatedTo(ChronoUnit.MICROS);
        } catch (DateTimeException unreadable) {
            throw InvalidInputException.of("query/" + name, Text.of("time.malformed-short"));
        }
    }

    /** The asset that the query names; null when it does not. */
    @Nullable
    Asset asset() {
        String code = query("asset");
        return code == null ? null : new Asset(code);
    }

    @Nullable
    String cursor() {
        return query("cursor");
    }

    int limit() {
        return query.get("limit") instanceof Long limit ? limit.intValue() : Page.DEFAULT_LIMIT;
    }

    private static <T> T given(@Nullable T value, String what) {
        if (value == null) {
            throw new IllegalStateException("the contract requires " + what);
        }
        return value;
    }
}
