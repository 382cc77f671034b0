package dev.hongbao.engine.shard;

import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.redis.Script;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * The fenced scripts of one version, stamped with a generation. Immutable.
 *
 * @param scripts by name
 */
public record ScriptSet(Map<String, Script> scripts) {
    public ScriptSet {
        scripts = Map.copyOf(scripts);
    }

    static ScriptSet stamped(Map<String, String> texts, Generation generation) {
        String epoch = Long.toString(generation.epoch());
        return of(
                texts, text -> text.replace("@generation@", generation.stamp()).replace("@epoch@", epoch));
    }

    /** The same scripts under SHAs of their own. @param token a word that no other copy has */
    ScriptSet copy(String token) {
        return of(
                scripts.entrySet().stream()
                        .collect(Collectors.toMap(
                                Map.Entry::getKey, script -> script.getValue().text())),
                text -> text + "-- copy " + token + "\n");
    }

    private static ScriptSet of(Map<String, String> texts, UnaryOperator<String> changed) {
        return new ScriptSet(texts.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(
                        Map.Entry::getKey, text -> Script.of(changed.apply(text.getValue())))));
    }

    /** The script of that name. */
    public Script script(String name) {
        Script script = scripts.get(name);
        if (script == null) {
            throw new IllegalArgumentException("no script " + name);
        }
        return script;
    }

    /** Whether the version has none. */
    public boolean isEmpty() {
        return scripts.isEmpty();
    }

    /** Loads all of them. Only for who knows that the generation stands: see {@link ScriptCopies}. */
    public Future<Void> load(RedisLink redis) {
        return Future.all(scripts.values().stream()
                        .map(script -> redis.send(
                                Request.cmd(Command.SCRIPT).arg("LOAD").arg(script.text())))
                        .toList())
                .mapEmpty();
    }

    /**
     * Of each set, in their order, whether all of its scripts are in Redis: all at one moment, by one command. A set without scripts is
     * not there: it proves nothing.
     */
    public static Future<List<Boolean>> areIn(RedisLink redis, List<ScriptSet> sets) {
        Request exist = Request.cmd(Command.SCRIPT).arg("EXISTS");
        sets.forEach(set -> set.scripts.values().forEach(script -> exist.arg(script.sha())));
        return redis.send(exist).map(flags -> {
            List<Boolean> there = new ArrayList<>();
            int at = 0;
            for (ScriptSet set : sets) {
                boolean all = !set.isEmpty();
                for (int i = 0; i < set.scripts.size(); i++) {
                    Response flag = flags.get(at++);
                    all &= flag.toInteger() == 1;
                }
                there.add(all);
            }
            return there;
        });
    }
}
