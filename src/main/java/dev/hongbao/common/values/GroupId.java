package dev.hongbao.common.values;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A chat group a packet lives in; a user may act in the groups that the token names.
 *
 * @param value as a {@link UserId}. Those that begin with {@code rain:} are the server's own
 */
public record GroupId(String value) {
    /** What the ids of rains' channels begin with; the rain's id follows. Nobody sends a packet into one: its drops are all its packets. */
    private static final String CHANNEL = "rain:";

    public GroupId {
        if (!isValid(value)) {
            throw new IllegalArgumentException(
                    "a group id is 1 to 128 visible ASCII characters without blanks and quotes");
        }
    }

    /** Whether {@code value} could be a group id; the same rule as the constructor, without the exception. */
    public static boolean isValid(String value) {
        return UserId.isValid(value);
    }

    /** The channel of a rain. */
    public static GroupId channel(UUID rain) {
        return new GroupId(CHANNEL + rain);
    }

    /** Whether it is the name of a rain's channel. */
    public boolean isChannel() {
        return value.startsWith(CHANNEL);
    }

    /** The rain whose channel it would be; null for another group. */
    public @Nullable UUID rain() {
        return isChannel() ? Uuids.parse(value.substring(CHANNEL.length())) : null;
    }

    @Override
    public String toString() {
        return value;
    }
}
