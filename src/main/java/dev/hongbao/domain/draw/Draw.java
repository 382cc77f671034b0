package dev.hongbao.domain.draw;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.fairness.Seed;
import dev.hongbao.domain.odds.DrawDefinition;
import dev.hongbao.domain.odds.Prize;
import java.time.Instant;

/**
 * A draw. Its definition never changes, and its opening is fixed. Immutable.
 *
 * @param shard of its keys in Redis
 * @param owner who made it, paid the awards, and gets the proceeds and the remainder
 * @param chance the source of its random numbers
 */
public record Draw(DrawId id, int shard, UserId owner, DrawDefinition definition, Times times, Committed chance) {
    /** The creation and the end: the definition's, or an earlier one if the draw was ended early. */
    public record Times(Instant createdAt, Instant closesAt) {}

    /**
     * The seed, published after the close.
     *
     * @param commitment to it and to the definition, 64 hexadecimal digits
     */
    public record Committed(Seed seed, String commitment) {}

    public Instant createdAt() {
        return times.createdAt;
    }

    public Instant closesAt() {
        return times.closesAt;
    }

    /** A copy with an earlier end. */
    Draw endingAt(Instant closesAt) {
        return new Draw(id, shard, owner, definition, new Times(times.createdAt, closesAt), chance);
    }

    /** Whether it opens after {@code now}. False for a draw without a delayed opening, even by a clock that lags. */
    public boolean opensAfter(Instant now) {
        return definition.opening().isAfter(createdAt()) && definition.opening().isAfter(now);
    }

    /** The prize with a number, from 1. */
    public Prize prize(int number) {
        return definition.allPrizes().get(number - 1);
    }
}
