package dev.hongbao.common.values;

/**
 * A client-made key under which a command happens once (draft-ietf-httpapi-idempotency-key-header). Scoped to the user
 * and the operation, kept for at least 24 hours, bound only by success.
 *
 * @param value 1 to 128 visible ASCII characters
 */
public record IdempotencyKey(String value) {
    private static final int MAX_LENGTH = 128;

    public IdempotencyKey {
        if (!isValid(value)) {
            throw new IllegalArgumentException("an idempotency key is 1 to 128 visible ASCII characters");
        }
    }

    /** Whether {@code value} could be a key. */
    public static boolean isValid(String value) {
        return !value.isEmpty()
                && value.length() <= MAX_LENGTH
                && value.chars().allMatch(character -> character >= '!' && character <= '~');
    }
}
