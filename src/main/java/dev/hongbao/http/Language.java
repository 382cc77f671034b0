package dev.hongbao.http;

import dev.hongbao.values.Text;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A language of problem texts. Names and numbers, which programs read, are the same in every language. */
public enum Language {
    ENGLISH("en", Text.ENGLISH),
    CHINESE("zh-CN", Text.table("zh"));

    /** A language range of ours with its weight: {@code zh-Hans-CN;q=0.8}. Matches in linear time. */
    private static final Pattern OURS = Pattern.compile(
            "\\s*(en|zh)(?:-[a-z0-9*-]*)?\\s*(?:;\\s*q=([01](?:\\.[0-9]{0,3})?)\\s*)?", Pattern.CASE_INSENSITIVE);

    private final String tag;
    private final Properties texts;

    Language(String tag, Properties texts) {
        this.tag = tag;
        this.texts = texts;
    }

    /**
     * The reader's preferred language: the range with the highest weight, the first of equals. Any Chinese is Chinese.
     *
     * @param accepted the header {@code Accept-Language}, whose malformed ranges do not count; English when it is null or names no
     *     language of ours
     */
    public static Language of(@Nullable String accepted) {
        Language best = ENGLISH;
        double most = 0;
        for (String range : accepted == null ? new String[0] : accepted.split(",")) {
            Matcher ours = OURS.matcher(range);
            if (ours.matches()) {
                double weight = ours.group(2) == null ? 1 : Double.parseDouble(ours.group(2));
                if (weight > most) {
                    most = weight;
                    best = ours.group(1).equalsIgnoreCase("en") ? ENGLISH : CHINESE;
                }
            }
        }
        return best;
    }

    public String tag() {
        return tag;
    }

    String say(Text text) {
        return text.in(texts);
    }
}
