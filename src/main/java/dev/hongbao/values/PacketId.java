package dev.hongbao.values;

import com.github.f4b6a3.uuid.UuidCreator;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A packet's id: a UUIDv7 (RFC 9562). Newer packets sort after older ones. */
public record PacketId(UUID value) {
    /** A new id from the clock and SecureRandom; not guessable. */
    public static PacketId create() {
        return new PacketId(UuidCreator.getTimeOrderedEpoch());
    }

    /**
     * Reads the canonical form, 36 lower- or upper-case characters.
     *
     * @return null when {@code text} is not a UUID in that form
     */
    public static @Nullable PacketId parse(String text) {
        UUID id = Uuids.parse(text);
        return id == null ? null : new PacketId(id);
    }

    @Override
    public String toString() {
        return value.toString();
    }
}
