package dev.hongbao.command;

import java.util.regex.Pattern;

/**
 * A user of the host application: the token's {@code sub}.
 *
 * @param value 1 to 64 ASCII characters: a letter, digit or underscore, then letters, digits and {@code . _ ~ @ | + = : -}.
 *     No space and no {@code #}: the journal and the packet hashes in Redis use them as marks.
 */
public record UserId(String value) {
    /** The pattern of a user id, also the contract's. */
    public static final Pattern PATTERN = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._~@|+=:-]{0,63}");

    public UserId {
        if (!isValid(value)) {
            throw new IllegalArgumentException("a user id is 1 to 64 characters of " + PATTERN.pattern());
        }
    }

    /** Whether {@code value} could be a user id; the same rule as the constructor, without the exception. */
    public static boolean isValid(String value) {
        return value.length() <= 64 && PATTERN.matcher(value).matches();
    }

    @Override
    public String toString() {
        return value;
    }
}
