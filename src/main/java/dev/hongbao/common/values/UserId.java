package dev.hongbao.common.values;

import java.util.regex.Pattern;

/**
 * A user of the host application: the token's {@code sub}.
 *
 * @param value 1 to 64 ASCII characters: a letter, digit or underscore, then letters, digits and {@code . _ ~ @ | + = : -}.
 *     No space, and none of {@code # ! ~ * =} at the beginning: the journal and the hashes in Redis use them as
 *     marks.
 */
public record UserId(String value) {
    /** The pattern of a user id, also the contract's. */
    public static final Pattern PATTERN = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._~@|+=:-]{0,63}");

    /** The same rule for each character, since every user of every claim read from the journal is checked: 1 first, 2 later. */
    private static final byte[] ALLOWED = allowed();

    public UserId {
        if (!isValid(value)) {
            throw new IllegalArgumentException("a user id is 1 to 64 characters of " + PATTERN.pattern());
        }
    }

    /** Whether {@code value} could be a user id; the same rule as the constructor, without the exception. */
    public static boolean isValid(String value) {
        int length = value.length();
        if (length == 0 || length > 64 || !isAllowed(value.charAt(0), 1)) {
            return false;
        }
        for (int i = 1; i < length; i++) {
            if (!isAllowed(value.charAt(i), 2)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isAllowed(char character, int place) {
        return character < ALLOWED.length && (ALLOWED[character] & place) != 0;
    }

    private static byte[] allowed() {
        byte[] allowed = new byte[128];
        for (char c = 0; c < allowed.length; c++) {
            boolean word = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_';
            allowed[c] = (byte) (word ? 3 : "._~@|+=:-".indexOf(c) >= 0 ? 2 : 0);
        }
        return allowed;
    }

    @Override
    public String toString() {
        return value;
    }
}
