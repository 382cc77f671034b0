package dev.hongbao.http;

import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.StrictJson;
import dev.hongbao.values.Text;
import io.vertx.core.http.HttpMethod;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One call of the contract.
 *
 * @param index its place in the contract, 0 and up: for counters
 * @param id its {@code operationId}
 * @param needs what a caller must have
 * @param body null when the call takes no body
 */
public record Operation(
        int index,
        String id,
        HttpMethod method,
        Parameters parameters,
        Needs needs,
        @Nullable Body body) {

    /**
     * The schemas of the parameters, by name, in the contract's order, in which a form shows them.
     *
     * @param path all of them required
     * @param query all of them optional
     */
    public record Parameters(Map<String, Schema> path, Map<String, Schema> query) {
        public Parameters {
            path = Collections.unmodifiableMap(new LinkedHashMap<>(path));
            query = Collections.unmodifiableMap(new LinkedHashMap<>(query));
        }
    }

    /**
     * Checks before the parameters.
     *
     * @param token false for a call without a token
     * @param service whether only the host application's backend may make it
     * @param rateLimit which limit counts it
     * @param idempotencyKey whether the header is required
     */
    public record Needs(boolean token, boolean service, RateLimit rateLimit, boolean idempotencyKey) {}

    /** The body that a call takes. */
    public record Body(Schema schema, boolean required) {}

    /** Of {@code x-rate-limit}. */
    public enum RateLimit {
        CALLS,
        CLAIMS
    }

    /** A copy for role service only, even of a call that needs no token. */
    Operation forServiceAlone() {
        Needs narrowed = new Needs(true, true, needs.rateLimit(), needs.idempotencyKey());
        return new Operation(index, id, method, parameters, narrowed, body);
    }

    /**
     * Checks the path's parameters, which are decoded already.
     *
     * @throws InvalidInputException when one is not what the contract says
     */
    public void checkPath(Map<String, String> values) {
        parameters.path().forEach((name, schema) -> schema.check(values.getOrDefault(name, ""), "path/" + name));
    }

    /**
     * The query's parameters, decoded and checked: {@code Long} or {@code String} by name. Not Vert.x Web's reader, which accepts
     * {@code ?&}, takes {@code ;} for {@code &}, and does not locate a malformed escape.
     *
     * @param query without its question mark; null for none
     * @throws InvalidInputException for an unknown, repeated or malformed one
     */
    public Map<String, Object> queryParameters(@Nullable String query) {
        if (query == null || query.isEmpty()) {
            return Map.of();
        }
        Map<String, Object> values = new HashMap<>();
        for (String pair : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            String name = decode(equals < 0 ? pair : pair.substring(0, equals), "query");
            String place = "query/" + name;
            Schema schema = parameters.query().get(name);
            if (schema == null) {
                throw InvalidInputException.of(place, Text.of("query.unknown"));
            }
            Object value = typed(schema, decode(equals < 0 ? "" : pair.substring(equals + 1), place), place);
            schema.check(value, place);
            if (values.put(name, value) != null) {
                throw InvalidInputException.of(place, Text.of("query.twice"));
            }
        }
        return values;
    }

    private static Object typed(Schema schema, String text, String place) {
        if (!schema.isInteger()) {
            return text;
        }
        if (!text.matches("[0-9]{1,9}")) {
            throw InvalidInputException.of(place, Text.of("query.digits"));
        }
        return Long.valueOf(text);
    }

    private static String decode(String text, String place) {
        try {
            String decoded = URLDecoder.decode(text, StandardCharsets.UTF_8);
            if (!StrictJson.isKept(decoded)) {
                throw InvalidInputException.of(place, Text.of("json.surrogate"));
            }
            return decoded;
        } catch (IllegalArgumentException malformed) {
            throw InvalidInputException.of(place, Text.of("query.escape"));
        }
    }
}
