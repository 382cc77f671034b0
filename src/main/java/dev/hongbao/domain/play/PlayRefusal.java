package dev.hongbao.domain.play;

import dev.hongbao.domain.play.PlayOutcome.Kind;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reasons for refused plays, in the words shared by Postgres, the script and the journal. */
enum PlayRefusal {
    LIMIT("limit", Kind.LIMIT_REACHED),
    DAILY_LIMIT("day", Kind.DAILY_LIMIT_REACHED),
    EXHAUSTED("exhausted", Kind.EXHAUSTED),
    CLOSED("closed", Kind.CLOSED);

    private static final Map<String, PlayRefusal> BY_WORD =
            Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(each -> each.word, Function.identity()));

    private final String word;
    private final Kind kind;

    PlayRefusal(String word, Kind kind) {
        this.word = word;
        this.kind = kind;
    }

    /** Null for another word. */
    static @Nullable PlayRefusal of(String word) {
        return BY_WORD.get(word);
    }

    Kind kind() {
        return kind;
    }
}
