package dev.hongbao.config;

import dev.hongbao.config.HongbaoConfig.DeclaredAsset;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The values of an option: reading, checking and printing.
 *
 * @param kind one word for the documentation: integer, duration, text, file …
 * @param allowed the range or the choices, with the unit; completes "must be …"
 * @param parser reads a value; throws {@link IllegalArgumentException} for an unreadable text
 * @param rule whether a readable value is allowed
 * @param printer the text that {@code parser} reads back as the same value
 */
record OptionType<T>(
        String kind, String allowed, Function<String, T> parser, Predicate<T> rule, Function<T, String> printer) {
    private static final Pattern RANGE = Pattern.compile("(\\S+) … (\\S+)(?: .+)?");
    private static final Pattern INTEGER = Pattern.compile("0|[1-9][0-9]{0,9}");
    /** A browser's Origin header: scheme, host, and a port that is not the scheme's default; no path. */
    private static final Pattern ORIGIN =
            Pattern.compile("https?://([a-z0-9._-]{1,253}|\\[[0-9a-f:.]+])(:[1-9][0-9]{0,4})?");

    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9._:%-]{1,253}");
    /** Visible ASCII with single spaces in it. */
    private static final Pattern LINE = Pattern.compile("(?=.{1,256}$)[!-~]+( [!-~]+)*");

    private static final Pattern NAME = Pattern.compile("[a-z0-9-]{1,16}");
    private static final Pattern URL_PATH = Pattern.compile("(/[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,99}){0,8}");

    private static final int MAX_PORT = 65_535;
    private static final String PORT =
            "(:(6553[0-5]|655[0-2]\\d|65[0-4]\\d\\d|6[0-4]\\d{3}|[1-5]\\d{4}|[1-9]\\d{0,3}))?";
    // As strict as the clients that read the URLs. That of Redis takes + for a space.
    private static final String REDIS_USER = "://([\\w\\-.~!$&'()*,;=:%]*@)?";
    private static final String REDIS_HOST = "([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:.]+])" + PORT;
    private static final String REDIS_HOSTS = REDIS_HOST + "(," + REDIS_HOST + "){0,31}";
    private static final Pattern REDIS =
            Pattern.compile("rediss?(" + REDIS_USER + REDIS_HOST + "(/\\d{0,3})?|\\+cluster" + REDIS_USER + REDIS_HOSTS
                    + "/?|\\+sentinel" + REDIS_USER + REDIS_HOSTS + "/[A-Za-z0-9._-]{1,64})");
    private static final Pattern POSTGRES = Pattern.compile("postgres(ql)?://[\\w\\-.~%!*]+(:[\\w\\-.~%!*]+)?@"
            + "([A-Za-z0-9._%~-]+|\\[[0-9A-Fa-f:]+])" + PORT + "/[\\w\\-.~%!*]+(\\?\\S*)?");
    private static final Pattern LONE_PERCENT = Pattern.compile("%(?![0-9A-Fa-f]{2})");
    private static final Pattern SSL_MODE = Pattern.compile("[?&]sslmode=([^&]*)");
    /** Parameters that repeat a part of the URL: only some clients read them. */
    private static final Pattern SAID_TWICE =
            Pattern.compile("[?&](?i:host|hostaddr|port|user|password|dbname|options)=");

    private static final Pattern SCHEMA = Pattern.compile("[?&](?:search_path|currentSchema)=([^&]*)");
    private static final Pattern SCHEMA_NAME = Pattern.compile("[a-z_][a-z0-9_]{0,62}");
    private static final List<String> SSL_MODES =
            List.of("disable", "allow", "prefer", "require", "verify-ca", "verify-full");

    /**
     * The value of {@code text}.
     *
     * @throws IllegalArgumentException when the text is not an allowed value
     */
    T read(String text) {
        T value = parser.apply(text);
        if (!rule.test(value)) {
            throw new IllegalArgumentException("not allowed");
        }
        return value;
    }

    boolean allows(String text) {
        try {
            read(text);
            return true;
        } catch (IllegalArgumentException notAllowed) {
            return false;
        }
    }

    static OptionType<?> of(ConfigOption declared, RecordComponent component) {
        return switch (declared.kind()) {
            case OF_TYPE -> ofJava(component.getType(), component.getGenericType(), declared.range());
            case AS_PRINTED -> oneOf(component.getType(), Object::toString);
            case DIRECTORY ->
                new OptionType<>(
                        "directory",
                        "a directory, made when missing",
                        OptionType::parsePath,
                        path -> !Files.exists(path) || Files.isDirectory(path),
                        Path::toString);
            case HOST -> text("host", "a host name or an address to listen on", HOST);
            case URL_PATH -> text("path", "a path such as /hongbao, without a slash at its end, or empty", URL_PATH);
            case ORIGINS ->
                list("origins", "origins such as https://chat.example.com", origin -> origin, OptionType::areOrigins);
            case SECURE_ORIGINS ->
                list(
                        "origins",
                        "https origins such as https://img.example.com",
                        origin -> origin,
                        origins -> areOrigins(origins)
                                && origins.stream().allMatch(origin -> origin.startsWith("https://")));
            case TEXT ->
                optional(
                        "text",
                        "at most 256 characters, or empty",
                        text -> text,
                        text -> text.length() <= 256,
                        text -> text);
            case LINE -> text("text", "1 to 256 visible characters, single spaces between words", LINE);
            case NAME ->
                optional(
                        "name",
                        "at most 16 of a-z, 0-9 and -, or empty",
                        text -> text,
                        text -> NAME.matcher(text).matches(),
                        text -> text);
            case REDIS_URL ->
                url(
                        "redis://[user:password@]host[:port][/db], redis+cluster://[user:password@]host[:port],host[:port]… or"
                                + " redis+sentinel://[user:password@]host[:port],host[:port]…/master-name, rediss for TLS,"
                                + " special characters percent-encoded, host names without _, or empty",
                        OptionType::isRedis);
            case POSTGRES_URL ->
                url(
                        "postgresql://user:password@host[:port]/database[?sslmode=…&currentSchema=…], special characters"
                                + " percent-encoded, sslmode one of "
                                + String.join(", ", SSL_MODES) + ", or empty",
                        OptionType::isPostgres);
            case WEB_URL ->
                url(
                        "https://host[:port]/path, or http:// on a network that can be trusted, or empty",
                        OptionType::isWeb);
        };
    }

    private static OptionType<?> ofJava(Class<?> type, Type generic, String range) {
        if (type == int.class) {
            return ranged("integer", range, OptionType::parseInteger, n -> Integer.toString(n));
        }
        if (type == Duration.class) {
            return ranged("duration", range, Option::parseDuration, Option::printDuration);
        }
        if (type == Path.class) {
            return file();
        }
        if (type.isEnum()) {
            return oneOf(type, each -> each.toString().toLowerCase(Locale.ROOT));
        }
        Type each = generic instanceof ParameterizedType list ? list.getActualTypeArguments()[0] : type;
        if (each == Path.class) {
            return list(
                    "files",
                    "readable files",
                    OptionType::parsePath,
                    paths -> paths.stream().allMatch(OptionType::isReadableFile));
        }
        if (each == AddressRange.class) {
            return list("addresses", "addresses or blocks such as 10.0.0.0/8", AddressRange::parse, ranges -> true);
        }
        if (each == DeclaredAsset.class) {
            return list(
                    "assets",
                    "code:scale or code:scale:symbol",
                    DeclaredAsset::parse,
                    assets ->
                            assets.stream().map(DeclaredAsset::code).distinct().count() == assets.size());
        }
        throw new IllegalArgumentException("no option takes a " + generic.getTypeName());
    }

    private static <T extends Comparable<T>> OptionType<T> ranged(
            String kind, String range, Function<String, T> parser, Function<T, String> printer) {
        Matcher ends = RANGE.matcher(range);
        if (!ends.matches()) {
            throw new IllegalArgumentException("not a range: " + range);
        }
        T low = parser.apply(ends.group(1));
        T high = parser.apply(ends.group(2));
        return new OptionType<>(
                kind, range, parser, value -> value.compareTo(low) >= 0 && value.compareTo(high) <= 0, printer);
    }

    static OptionType<Optional<Path>> file() {
        return optional(
                "file", "a readable file, or empty", OptionType::parsePath, OptionType::isReadableFile, Path::toString);
    }

    private static boolean areOrigins(List<String> texts) {
        return texts.stream().allMatch(text -> ORIGIN.matcher(text).matches());
    }

    /**
     * A list: values separated by commas, or a YAML list.
     *
     * @param each the description of one value
     * @param parser reads one value, also from its {@code toString}
     * @param rule on the whole list
     */
    private static <T> OptionType<List<T>> list(
            String kind, String each, Function<String, T> parser, Predicate<List<T>> rule) {
        return new OptionType<>(
                kind,
                each + ", separated by commas, or empty",
                text -> Arrays.stream(text.split(",", -1))
                        .map(String::strip)
                        .filter(part -> !part.isEmpty())
                        .map(parser)
                        .toList(),
                rule,
                values -> values.stream().map(Object::toString).collect(Collectors.joining(",")));
    }

    private static OptionType<String> text(String kind, String allowed, Pattern pattern) {
        return new OptionType<>(
                kind, allowed, String::strip, text -> pattern.matcher(text).matches(), text -> text);
    }

    /** Blank text is no value. @param parser of a stripped text */
    private static <T> OptionType<Optional<T>> optional(
            String kind, String allowed, Function<String, T> parser, Predicate<T> rule, Function<T, String> printer) {
        return new OptionType<>(
                kind,
                allowed,
                text -> text.isBlank() ? Optional.empty() : Optional.of(parser.apply(text.strip())),
                value -> value.map(rule::test).orElse(true),
                value -> value.map(printer).orElse(""));
    }

    private static <E> OptionType<E> oneOf(Class<E> type, Function<E, String> name) {
        List<E> all = List.of(type.getEnumConstants());
        String names = all.stream().map(name).collect(Collectors.joining(", "));
        Function<String, E> parser = text -> all.stream()
                .filter(each -> name.apply(each).equalsIgnoreCase(text.strip()))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("not one of " + names));
        return new OptionType<>("choice", "one of " + names, parser, value -> true, name);
    }

    private static OptionType<Optional<SecretUrl>> url(String allowed, Predicate<String> rule) {
        return optional("url", allowed, SecretUrl::new, url -> rule.test(url.value()), SecretUrl::redacted);
    }

    private static int parseInteger(String text) {
        if (!INTEGER.matcher(text.strip()).matches()) {
            throw new IllegalArgumentException("not a whole number");
        }
        return Integer.parseInt(text.strip());
    }

    private static Path parsePath(String text) {
        if (text.isBlank()) {
            throw new IllegalArgumentException("empty");
        }
        try {
            return Path.of(text.strip());
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("not a path", e);
        }
    }

    private static boolean isReadableFile(Path path) {
        return Files.isRegularFile(path) && Files.isReadable(path);
    }

    /** Of one server, of nodes of a cluster, or of the sentinels of a master. */
    private static boolean isRedis(String text) {
        return REDIS.matcher(text).matches() && !LONE_PERCENT.matcher(text).find();
    }

    private static boolean isPostgres(String text) {
        return POSTGRES.matcher(text).matches()
                && !LONE_PERCENT.matcher(text).find()
                && SSL_MODE.matcher(text).results().allMatch(match -> SSL_MODES.contains(match.group(1)))
                && !SAID_TWICE.matcher(text).find()
                && SCHEMA.matcher(text).results().count() <= 1
                && SCHEMA.matcher(text)
                        .results()
                        .allMatch(match -> SCHEMA_NAME.matcher(match.group(1)).matches());
    }

    /** With http or https, and no user. */
    private static boolean isWeb(String text) {
        try {
            URI url = new URI(text);
            return ("https".equals(url.getScheme()) || "http".equals(url.getScheme()))
                    && url.getHost() != null
                    && url.getUserInfo() == null
                    && url.getFragment() == null
                    && url.getPort() <= MAX_PORT;
        } catch (URISyntaxException none) {
            return false;
        }
    }
}
