package dev.hongbao.values;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A chat group of the host application. A user may act in the groups that the token names.
 *
 * @param value as in {@link UserId}; a value that begins with {@code rain:} is the channel of a rain
 */
public record GroupId(String value) {
    /**
     * The prefix of a rain's channel; the rain's id follows. A channel holds only the rain's own packets: clients cannot send to
     * it.
     */
    private static final String CHANNEL = "rain:";

    public GroupId {
        if (!isValid(value)) {
            throw new IllegalArgumentException(
                    "a group id is 1 to 128 visible ASCII characters without blanks and quotes");
        }
    }

    /** Whether {@code value} is a group id; the constructor's rule, without the exception. */
    public static boolean isValid(String value) {
        return UserId.isValid(value);
    }

    public static GroupId channel(UUID rain) {
        return new GroupId(CHANNEL + rain);
    }

    public boolean isChannel() {
        return value.startsWith(CHANNEL);
    }

    /** The rain of this channel; null for any other group. */
    public @Nullable UUID rain() {
        return isChannel() ? Uuids.parse(value.substring(CHANNEL.length())) : null;
    }

    @Override
    public String toString() {
        return value;
    }
}
