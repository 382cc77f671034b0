package dev.hongbao.engine;

/**
 * A fault that a server saw in Redis. The shard's owner verifies it.
 *
 * @param key the missing key; empty for the other kinds
 */
public record Symptom(Kind kind, String key) {
    /** The generation's scripts or its journal are missing. */
    public static final Symptom FENCED = new Symptom(Kind.FENCED, "");

    /** A script failed with an impossible error, maybe between two of its writes. */
    public static final Symptom FAILED = new Symptom(Kind.FAILED, "");

    public enum Kind {
        FENCED,
        FAILED,
        MISSING
    }

    /** A key is missing though its packet or draw is open in Postgres. */
    public static Symptom missing(String key) {
        return new Symptom(Kind.MISSING, key);
    }
}
