package dev.hongbao.engine.shard;

import dev.hongbao.engine.redis.Script;
import java.util.Collection;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The texts of the fenced scripts, by name, with {@code @generation@} and {@code @epoch@} to be stamped. Immutable.
 *
 * @param own what this version calls
 * @param previous all of the version before, which this version only loads: its servers may still be there during an upgrade; empty in
 *     the first version
 */
public record ScriptTexts(Map<String, String> own, Map<String, String> previous) {
    private static final String PREVIOUS = "previous";

    public ScriptTexts {
        own = Map.copyOf(own);
        previous = Map.copyOf(previous);
    }

    /**
     * From the class path: {@code lua/<name>.lua}, and what {@code lua/previous/scripts.txt} names, from that folder.
     *
     * @throws IllegalStateException when the jar lacks one of them
     */
    public static ScriptTexts read(Collection<String> names) {
        return new ScriptTexts(
                texts(names, Script::read), texts(Script.namesOf(PREVIOUS), name -> Script.readOf(PREVIOUS, name)));
    }

    private static Map<String, String> texts(Collection<String> names, Function<String, String> read) {
        return names.stream().collect(Collectors.toUnmodifiableMap(name -> name, read));
    }
}
