package dev.hongbao.engine.shard;

import java.util.function.Function;
import java.util.function.Supplier;

/** What a server saw in Redis that should not be so. The shard's owner looks before it believes it. */
public sealed interface Symptom {
    /** The generation's scripts or its journal are not there. */
    Symptom FENCED = new Fenced();

    /** A script failed in a way that it never should, maybe between two of its writes. */
    Symptom FAILED = new Failed();

    /** @see #FENCED */
    record Fenced() implements Symptom {}

    /** @see #FAILED */
    record Failed() implements Symptom {}

    /** A key is not there though Postgres says that its packet or draw is open. */
    record Missing(String key) implements Symptom {}

    /** What follows from each. */
    default <R> R fold(Supplier<R> fenced, Supplier<R> failed, Function<String, R> missing) {
        if (this instanceof Missing key) {
            return missing.apply(key.key);
        }
        return this instanceof Failed ? failed.get() : fenced.get();
    }
}
