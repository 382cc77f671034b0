package dev.hongbao.engine.shard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.redis.Script;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScriptTextsTest {
    private static final String GENERATION = "@generation@";

    @Test
    void thePreviousScriptsAreWhatTheListNames() {
        ScriptTexts texts = ScriptTexts.read(List.of("claim", "load"));

        assertThat(texts.own()).containsOnlyKeys("claim", "load");
        assertThat(texts.previous().keySet()).containsExactlyInAnyOrderElementsOf(Script.namesOf("previous"));
    }

    /** Without it there would be no fence. */
    @Test
    void everyPreviousScriptIsStamped() {
        assertThat(ScriptTexts.read(List.of()).previous().values())
                .allSatisfy(text -> assertThat(text).contains(GENERATION));
    }

    @Test
    void aFolderHasItsOwnIncludes() {
        assertThat(Script.namesOf("older")).containsExactly("included");
        assertThat(Script.readOf("older", "included")).isEqualTo("-- the older fence\nreturn 1\n");
    }

    @Test
    void aCopyHasTheSameNamesAndOtherShas() {
        ScriptSet set =
                ScriptSet.stamped(ScriptTexts.read(List.of("claim", "close")).own(), new Generation("t", 0, 1, "a"));
        ScriptSet copy = set.copy("one");

        assertThat(copy.scripts()).containsOnlyKeys("claim", "close");
        assertThat(copy.script("close").text()).startsWith(set.script("close").text());
        assertThat(copy.script("close").sha())
                .isNotEqualTo(set.script("close").sha())
                .isNotEqualTo(set.copy("two").script("close").sha());
    }
}
