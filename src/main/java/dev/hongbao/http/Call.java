package dev.hongbao.http;

import dev.hongbao.values.Asset;
import dev.hongbao.values.Caller;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Page;
import dev.hongbao.values.Text;
import dev.hongbao.values.Times;
import dev.hongbao.values.UserId;
import dev.hongbao.values.Uuids;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
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

    Call with(JsonObject body) {
        return new Call(exchange, from, path, query, key, body);
    }

    /** The caller of a call that needs a token. */
    public Caller caller() {
        return given(from, "token");
    }

    /** The key of a call whose contract requires it. */
    public IdempotencyKey requiredKey() {
        return given(key, "Idempotency-Key");
    }

    /** The body of a call whose contract requires it. */
    public JsonObject requiredBody() {
        return given(json, "body");
    }

    public UserId user() {
        return new UserId(given(path.get("user"), "user"));
    }

    public GroupId group() {
        return new GroupId(given(path.get("group"), "group"));
    }

    public PacketId packet() {
        return id("packet", Text.of("id.packet"), PacketId::parse);
    }

    public DrawId draw() {
        return id("draw", Text.of("id.draw"), DrawId::parse);
    }

    /** The place in its draw of the play that the path names. */
    public long play() {
        return number("seq");
    }

    /** A whole number in the path. */
    public long number(String name) {
        try {
            return Long.parseLong(given(path.get(name), name));
        } catch (NumberFormatException beyond) {
            throw InvalidInputException.of("path/" + name, Text.of("field.number"));
        }
    }

    public CampaignId campaign() {
        return id("campaign", Text.of("id.campaign"), CampaignId::parse);
    }

    public CampaignId rain() {
        return id("rain", Text.of("id.rain"), CampaignId::parse);
    }

    public UUID webhook() {
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
    public @Nullable String query(String name) {
        return (String) query.get(name);
    }

    /** One of an enum's names in lower case, that the query names; null when it does not. */
    public <E extends Enum<E>> @Nullable E choice(String name, Class<E> type) {
        String text = query(name);
        return text == null
                ? null
                : Enum.valueOf(type, text.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    /** A time that the query names; null when it does not. */
    public @Nullable Instant time(String name) {
        String text = query(name);
        return text == null ? null : Times.read("query/" + name, text);
    }

    /** The asset that the query names; null when it does not. */
    public @Nullable Asset asset() {
        String code = query("asset");
        return code == null ? null : new Asset(code);
    }

    public @Nullable String cursor() {
        return query("cursor");
    }

    public int limit() {
        return query.get("limit") instanceof Long limit ? limit.intValue() : Page.DEFAULT_LIMIT;
    }

    private static <T> T given(@Nullable T value, String what) {
        if (value == null) {
            throw new IllegalStateException("the contract requires " + what);
        }
        return value;
    }

    /**
     * The preferences of a request (RFC 7240), from all its {@code Prefer} headers. If a preference occurs twice, the first counts.
     * Unknown and malformed preferences are ignored. Immutable.
     */
    public static final class Preferences {
        private static final String HEADER = "prefer";
        private static final Preferences NONE = new Preferences(List.of());

        /** By name, in lower case; an empty value is none. */
        private final Map<String, String> values = new HashMap<>();

        private Preferences(List<String> lines) {
            lines.forEach(this::read);
        }

        public static Preferences of(HttpServerRequest request) {
            return request.headers().contains(HEADER)
                    ? of(request.headers().getAll(HEADER))
                    : NONE; // as in most claims
        }

        /** @param lines the header's */
        static Preferences of(List<String> lines) {
            return new Preferences(lines);
        }

        /** Whether the client does not wait for all of the work ({@code respond-async}). */
        public boolean isAsync() {
            return "".equals(values.get("respond-async"));
        }

        /** The longest {@code wait} for events. A proxy would cut longer waits. */
        private static final int MAX_WAIT_SECONDS = 30;

        /** The client's {@code wait} for events in seconds, cut to the longest; 0 if absent. */
        public int waitSeconds() {
            String seconds = values.getOrDefault("wait", "");
            return seconds.matches("[0-9]{1,4}") ? Math.min(Integer.parseInt(seconds), MAX_WAIT_SECONDS) : 0;
        }

        private void read(String line) {
            for (int from = 0, end; from < line.length(); from = end + 1) {
                end = find(line, from, line.length(), ',');
                String preference = line.substring(from, find(line, from, end, ';'));
                int equals = preference.indexOf('=');
                String name = (equals < 0 ? preference : preference.substring(0, equals)).strip();
                String value = equals < 0
                        ? ""
                        : unquoted(preference.substring(equals + 1).strip());
                values.putIfAbsent(name.toLowerCase(Locale.ROOT), value);
            }
        }

        /** The place of a separator that is not within quotes; {@code end} when there is none. */
        private static int find(String line, int from, int end, char separator) {
            boolean isQuoted = false;
            for (int i = from; i < end; i++) {
                char next = line.charAt(i);
                if (next == '"') {
                    isQuoted = !isQuoted;
                } else if (isQuoted && next == '\\') {
                    i++;
                } else if (!isQuoted && next == separator) {
                    return i;
                }
            }
            return end;
        }

        /** A quoted string's text; anything else as it is. */
        private static String unquoted(String word) {
            return word.length() >= 2 && word.startsWith("\"") && word.endsWith("\"")
                    ? word.substring(1, word.length() - 1).replaceAll("\\\\(.)", "$1")
                    : word;
        }
    }
}
