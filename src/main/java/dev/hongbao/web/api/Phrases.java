package dev.hongbao.web.api;

import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Sentences in another language, each found by the English one that the program says: the source keeps whole English sentences
 * where they arise, as with gettext. {@code {}} stands for what a sentence names; the other language puts it at {@code {0}},
 * {@code {1}} and so on. A test reads all sentences out of the source and finds those that are missing here. Immutable.
 */
final class Phrases {
    /** Nothing that long is ours. */
    private static final int MAX_LENGTH = 600;

    private static final Pattern NAMED = Pattern.compile("\\{(\\d)}");

    private final Map<String, String> whole = new HashMap<>();
    private final List<Form> forms = new ArrayList<>();

    /** A sentence that names something. */
    private record Form(String begin, int length, Pattern english, String other) {}

    private Phrases(JsonObject sentences) {
        sentences.forEach(each -> add(each.getKey(), (String) each.getValue()));
        // The more a form says itself, the more exact it is: "at most {} with this amount" before "at most {}".
        forms.sort(Comparator.comparingInt((Form form) -> form.length).reversed());
    }

    /**
     * Reads a file of this jar.
     *
     * @param resource a JSON object of texts, English to other
     */
    static Phrases load(String resource) {
        return new Phrases(new JsonObject(Contract.text(resource)));
    }

    private void add(String english, String other) {
        if (!english.contains("{}")) {
            whole.put(english, other);
            return;
        }
        String[] parts = english.split("\\{}", -1);
        String pattern = List.of(parts).stream().map(Pattern::quote).collect(Collectors.joining("(.+?)"));
        forms.add(new Form(parts[0], english.length(), Pattern.compile(pattern, Pattern.DOTALL), other));
    }

    /** The sentence in the other language, what it names too where that is known; the same text when there is none. */
    String say(String english) {
        String known = whole.get(english);
        if (known != null || english.length() > MAX_LENGTH) {
            return known == null ? english : known;
        }
        for (Form form : forms) {
            Matcher matcher = form.english.matcher(english);
            if (english.startsWith(form.begin) && matcher.matches()) {
                return NAMED.matcher(form.other)
                        .replaceAll(
                                at -> Matcher.quoteReplacement(say(matcher.group(1 + Integer.parseInt(at.group(1))))));
            }
        }
        return english;
    }
}
