package dev.hongbao.common.values;

import java.util.regex.Pattern;

/**
 * A chat group a packet lives in; a user may act in the groups that the token names.
 *
 * @param value 1 to 64 ASCII characters of {@link #PATTERN}.
 *
 */
public record GroupId(String value) {
    /** The pattern of a group id, also the contract's. */
    public static final Pattern PATTERN = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._~@|+=:-]{0,63}");

    public GroupId {
        if (!isValid(value)) {
            throw new IllegalArgumentException("a group id is 1 to 64 characters of " + PATTERN.pattern());
        }
    }

    /** Whether {@code value} could be a group id; the same rule as the constructor, without the exception. */
    public static boolean isValid(String value) {
        return value.length() <= 64 && PATTERN.matcher(value).matches();
    }

    @Override
    public String toString() {
        return value;
    }
}
