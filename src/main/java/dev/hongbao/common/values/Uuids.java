package dev.hongbao.common.values;

import com.github.f4b6a3.uuid.util.UuidValidator;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** UUIDs as text (RFC 9562, 4): the one form that is accepted. Pure. */
public final class Uuids {
    private static final int LENGTH = 36;

    private Uuids() {}

    /** Whether {@code text} is 36 characters of hexadecimal digits, of either case, and hyphens in their places. */
    public static boolean isUuid(String text) {
        return text.length() == LENGTH && UuidValidator.isValid(text);
    }

    /** Reads that form; null when {@code text} is anything else, such as the shortened forms that Java reads too. */
    public static @Nullable UUID parse(String text) {
        return isUuid(text) ? UUID.fromString(text) : null;
    }
}
