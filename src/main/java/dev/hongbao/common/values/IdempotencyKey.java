package dev.hongbao.common.values;

/**
 * A client-made key under which a command happens once (draft-ietf-httpapi-idempotency-key-header), as one request gives it. Scoped
 * to the user and the operation, kept for at least 24 hours, bound only by success. Thread-safe.
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

    /** Whether {@code value} could be a key. */
    public static boolean isValid(String value) {
        return !value.isEmpty()
                && value.length() <= MAX_LENGTH
                && value.chars().allMatch(character -> character >= '!' && character <= '~');
    }

    /** As the client wrote it. */
    public String value() {
        return value;
    }

    /** Notes that the command was found done already: what its request is answered repeats the first answer. */
    public void repeats() {
        isRepeated = true;
    }

    /** Whether the command was done before: by an earlier request, or by a try of this one whose answer was lost on its way here. */
    public boolean isRepeated() {
        return isRepeated;
    }
}
