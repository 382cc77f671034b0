package dev.hongbao.http;

import io.vertx.core.http.HttpServerRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The preferences of a request (RFC 7240), from all its {@code Prefer} headers. If a preference occurs twice, the first counts.
 * Unknown and malformed preferences are ignored. Immutable.
 */
public final class Preferences {
    private static final String HEADER = "prefer";
    private static final Preferences NONE = new Preferences(List.of());

    /** By name, in lower case; an empty value is none. */
    private final Map<String, String> values = new HashMap<>();

    private Preferences(List<String> lines) {
        lines.forEach(this::read);
    }

    public static Preferences of(HttpServerRequest request) {
        return request.headers().contains(HEADER) ? of(request.headers().getAll(HEADER)) : NONE; // as in most claims
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
            String value =
                    equals < 0 ? "" : unquoted(preference.substring(equals + 1).strip());
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
