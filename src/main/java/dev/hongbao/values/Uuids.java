package dev.hongbao.values;

import com.github.f4b6a3.uuid.util.UuidValidator;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** UUIDs as text, in the only form that is accepted (RFC 9562, section 4). Pure. */
public final class Uuids {
    private static final int LENGTH = 36;

    private Uuids() {}

    /** Whether {@code text} is 36 characters: hexadecimal digits of either case, with hyphens in their places. */
    public static boolean isUuid(String text) {
        return text.length() == LENGTH && UuidValidator.isValid(text);
    }

    /** Reads that form; null for any other text, such as the shortened forms that Java accepts. */
    public static @Nullable UUID parse(String text) {
        return isUuid(text) ? UUID.fromString(text) : null;
    }
}
