package dev.hongbao.engine.shard;

import java.util.function.Function;
import java.util.function.Supplier;

/** A fault that a server saw in Redis. The shard's owner verifies it. */
public sealed interface Symptom {
    /** The generation's scripts or its journal are missing. */
    Symptom FENCED = new Fenced();

    /** A script failed with an impossible error, maybe between two of its writes. */
    Symptom FAILED = new Failed();

    record Fenced() implements Symptom {}

    record Failed() implements Symptom {}

    /** A key is missing though its packet or draw is open in Postgres. */
    record Missing(String key) implements Symptom {}

    /** Maps each kind to a value. */
    default <R> R fold(Supplier<R> fenced, Supplier<R> failed, Function<String, R> missing) {
        if (this instanceof Missing key) {
            return missing.apply(key.key);
        }
        return this instanceof Failed ? failed.get() : fenced.get();
    }
}
