package dev.hongbao.common.json;

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
 * A sentence for a reader, before the language is known. The tables {@code problems/en.properties} and {@code problems/zh.properties} hold
 * the sentences. Immutable.
 *
 * @param key of the sentence in each table
 * @param arguments what the sentence names at {@code {0}}, {@code {1}} and so on; a text among them is told in the same language
 */
public record Text(String key, List<@Nullable Object> arguments) {
    private static final Pattern PARAMETER = Pattern.compile("\\{(\\d)}");

    public static final Properties ENGLISH = table("en");

    public static Text of(String key, @Nullable Object... arguments) {
        return new Text(key, Arrays.asList(arguments));
    }

    /** A sentence that has no translation: only terminals show it. */
    public static Text plain(String sentence) {
        return of("plain", sentence);
    }

    /** The text of an English sentence that takes no arguments. @throws NoSuchElementException when there is none */
    public static Text saying(String english) {
        return ENGLISH.entrySet().stream()
                .filter(each -> each.getValue().equals(english))
                .map(each -> of((String) each.getKey()))
                .findFirst()
                .orElseThrow(() -> new NoSuchElementException(english));
    }

    /** The sentences of a language, by key. @param language {@code en} or {@code zh} */
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

    /** The sentence in the language of a table. */
    public String in(Properties table) {
        String sentence = Objects.requireNonNull(table.getProperty(key), key);
        if (arguments.isEmpty()) {
            return sentence; // as of each refused claim
        }
        return PARAMETER.matcher(sentence).replaceAll(at -> {
            Object named = arguments.get(Integer.parseInt(at.group(1)));
            return Matcher.quoteReplacement(named instanceof Text text ? text.in(table) : String.valueOf(named));
        });
    }

    /** The English sentence, as in logs. */
    @Override
    public String toString() {
        return in(ENGLISH);
    }
}
