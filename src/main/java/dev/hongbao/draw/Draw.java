package dev.hongbao.draw;

import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.Prize;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.UserId;
import java.time.Instant;
import java.util.List;
import java.util.Objects;

/**
 * A draw. Its definition never changes, and its opening is fixed. Immutable.
 *
 * @param shard of its keys in Redis
 * @param owner who made it, paid the awards, and gets the proceeds and the remainder
 * @param closesAt the definition's end, or an earlier one if the draw was ended early
 * @param seed the source of its random numbers, published after the close
 * @param commitment to the seed and the definition, 64 hexadecimal digits
 */
public record Draw(
        DrawId id,
        int shard,
        UserId owner,
        DrawDefinition definition,
        Instant createdAt,
        Instant closesAt,
        Seed seed,
        String commitment) {
    /** A copy with an earlier end. */
    Draw endingAt(Instant end) {
        return new Draw(id, shard, owner, definition, createdAt, end, seed, commitment);
    }

    /** Whether it opens after {@code now}. False for a draw without a delayed opening, even by a clock that lags. */
    public boolean opensAfter(Instant now) {
        return definition.opening().isAfter(createdAt) && definition.opening().isAfter(now);
    }

    /** The prize with a number, from 1. */
    public Prize prize(int number) {
        List<Prize> prizes = definition.prizes();
        return number <= prizes.size() ? prizes.get(number - 1) : Objects.requireNonNull(definition.fallback());
    }

    /** The unit that quarantine sets aside. */
    public static Quarantine.Unit unit(DrawId id) {
        return new Quarantine.Unit("draw", id.value());
    }
}
