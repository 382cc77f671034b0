package dev.hongbao.http;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.hongbao.values.Text;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/** A language of problem texts. Names and numbers, which programs read, are the same in every language. */
public enum Language {
    ENGLISH("en", Text.ENGLISH),
    CHINESE("zh-CN", Text.table("zh"));

    /**
     * Tags that a reader may ask for. {@code zh} stands beside {@code zh-CN}, so that readers of another Chinese get Chinese
     * rather than English.
     */
    private static final List<String> TAGS = List.of("en", "zh-CN", "zh");

    /** Longer headers are not cached. */
    private static final int MAX_KEPT = 128;

    /** Browsers send a few hundred different headers, and parsing costs more than the rest of a refusal. */
    private static final LoadingCache<String, Language> KEPT =
            Caffeine.newBuilder().maximumSize(1_000).executor(Runnable::run).build(Language::read);

    private final String tag;
    private final Properties texts;

    Language(String tag, Properties texts) {
        this.tag = tag;
        this.texts = texts;
    }

    /**
     * The reader's preferred language, by the lookup of RFC 4647.
     *
     * @param accepted the header {@code Accept-Language}; English when it is null, malformed, or names no language of ours
     */
    public static Language of(@Nullable String accepted) {
        if (accepted == null) {
            return ENGLISH;
        }
        return accepted.length() > MAX_KEPT ? read(accepted) : KEPT.get(accepted);
    }

    private static Language read(String accepted) {
        try {
            String found = Locale.lookupTag(Locale.LanguageRange.parse(accepted), TAGS);
            return found == null || found.equals("en") ? ENGLISH : CHINESE;
        } catch (IllegalArgumentException malformed) {
            return ENGLISH;
        }
    }

    public String tag() {
        return tag;
    }

    String say(Text text) {
        return text.in(texts);
    }
}
