package dev.hongbao.values;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A sentence whose language is chosen when it is shown. The sentences are in {@code problems/en.properties} and {@code
 * problems/zh.properties}. Immutable.
 *
 * @param key the sentence's key in both tables
 * @param arguments the values for {@code {0}}, {@code {1}} and so on; a {@link Text} among them is shown in the same language
 */
public record Text(String key, List<@Nullable Object> arguments) {
    private static final Pattern PARAMETER = Pattern.compile("\\{(\\d)}");

    public static final Properties ENGLISH = table("en");

    public static Text of(String key, @Nullable Object... arguments) {
        return new Text(key, Arrays.asList(arguments));
    }

    /** A sentence without a translation, for terminals only. */
    public static Text plain(String sentence) {
        return of("plain", sentence);
    }

    /**
     * Finds an English sentence without arguments.
     *
     * @throws NoSuchElementException if the table lacks it
     */
    public static Text saying(String english) {
        return ENGLISH.entrySet().stream()
                .filter(each -> each.getValue().equals(english))
                .map(each -> of((String) each.getKey()))
                .findFirst()
                .orElseThrow(() -> new NoSuchElementException(english));
    }

    /**
     * The sentences of a language, by key.
     *
     * @param language {@code en} or {@code zh}
     */
    public static Properties table(String language) {
        Properties table = new Properties();
        try (Reader reader = new InputStreamReader(
                Objects.requireNonNull(Text.class.getResourceAsStream("/problems/" + language + ".properties")),
                StandardCharsets.UTF_8)) {
            table.load(reader);
            return table;
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    public String in(Properties table) {
        String sentence = Objects.requireNonNull(table.getProperty(key), key);
        if (arguments.isEmpty()) {
            return sentence; // the fast path: every refused claim takes it
        }
        return PARAMETER.matcher(sentence).replaceAll(at -> {
            Object named = arguments.get(Integer.parseInt(at.group(1)));
            return Matcher.quoteReplacement(named instanceof Text text ? text.in(table) : String.valueOf(named));
        });
    }

    /** The English sentence, for logs. */
    @Override
    public String toString() {
        return in(ENGLISH);
    }
}
