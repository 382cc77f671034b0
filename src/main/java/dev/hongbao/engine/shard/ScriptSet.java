package dev.hongbao.engine.shard;

import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.redis.Script;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The fenced scripts, stamped with a generation, so that each generation has SHAs of its own. A script is stamped at its first
 * use: a start meets generations whose scripts it never needs. Thread-safe.
 */
public final class ScriptSet {
    private final Map<String, String> texts;
    private final Generation generation;
    private final Map<String, Script> stamped = new ConcurrentHashMap<>();

    /** @param texts by name, with the placeholders {@code @generation@} and {@code @epoch@} */
    ScriptSet(Map<String, String> texts, Generation generation) {
        this.texts = texts;
        this.generation = generation;
    }

    /**
     * The stamped script.
     *
     * @throws IllegalArgumentException for an unknown name
     */
    public Script script(String name) {
        Script known = stamped.get(name);
        return known == null ? stamped.computeIfAbsent(name, this::stamp) : known;
    }

    private Script stamp(String name) {
        String text = texts.get(name);
        if (text == null) {
            throw new IllegalArgumentException("no script " + name);
        }
        return Script.of(
                text.replace("@generation@", generation.stamp()).replace("@epoch@", Long.toString(generation.epoch())));
    }

    private Stream<Script> all() {
        return texts.keySet().stream().map(this::script);
    }

    /**
     * Loads all scripts. Only recovery of their generation may call it: their presence proves that Redis lost nothing since.
     * Idempotent.
     */
    public Future<Void> load(RedisLink redis) {
        return Future.all(all().map(script -> redis.send(
                                Request.cmd(Command.SCRIPT).arg("LOAD").arg(script.text())))
                        .toList())
                .mapEmpty();
    }

    /** Whether Redis has all scripts; asked by one command, so at one moment. */
    public Future<Boolean> areIn(RedisLink redis) {
        Request exist = Request.cmd(Command.SCRIPT).arg("EXISTS");
        all().forEach(script -> exist.arg(script.sha()));
        return redis.send(exist)
                .map(flags -> StreamSupport.stream(flags.spliterator(), false).allMatch(flag -> flag.toInteger() == 1));
    }
}
