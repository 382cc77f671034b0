package dev.hongbao.values;

/**
 * One request's idempotency key: a command with this key happens once (draft-ietf-httpapi-idempotency-key-header). It is scoped
 * to the user and the operation, and is kept for at least 24 hours. Only a command that succeeded binds it. Thread-safe.
 */
public final class IdempotencyKey {
    private static final int MAX_LENGTH = 128;

    private final String value;
    private volatile boolean isRepeated;

    /** @param value 1 to 128 visible ASCII characters */
    public IdempotencyKey(String value) {
        if (!isValid(value)) {
            throw new IllegalArgumentException("an idempotency key is 1 to 128 visible ASCII characters");
        }
        this.value = value;
    }

    public static boolean isValid(String value) {
        return !value.isEmpty()
                && value.length() <= MAX_LENGTH
                && value.chars().allMatch(character -> character >= '!' && character <= '~');
    }

    public String value() {
        return value;
    }

    /** Notes that the command was done before: the answer repeats the first one. */
    public void repeats() {
        isRepeated = true;
    }

    /** Whether the command was done before: by an earlier request, or by an attempt of this request whose answer was lost. */
    public boolean isRepeated() {
        return isRepeated;
    }
}
