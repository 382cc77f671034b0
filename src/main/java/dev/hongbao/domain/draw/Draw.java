package dev.hongbao.domain.draw;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.fairness.DrawSeed;
import dev.hongbao.domain.odds.DrawDefinition;
import dev.hongbao.domain.odds.Prize;
import java.time.Instant;

/**
 * A draw that exists. Its definition never changes, and its opening is fixed. Immutable.
 *
 * @param shard where it lives in Redis
 * @param owner who made it: paid the awards, gets the proceeds and what is left
 * @param chance where all its chance comes from
 */
public record Draw(DrawId id, int shard, UserId owner, DrawDefinition definition, Times times, Committed chance) {
    /** When it was made, and when it ends: as the definition says, or earlier when it was ended by hand. */
    public record Times(Instant createdAt, Instant closesAt) {}

    /** The seed, told once the draw is closed. @param commitment to it and to the definition, 64 hexadecimal digits */
    public record Committed(DrawSeed seed, String commitment) {}

    public Instant createdAt() {
        return times.createdAt;
    }

    public Instant closesAt() {
        return times.closesAt;
    }

    /** The same with an end that was brought forward since it was read. */
    Draw endingAt(Instant closesAt) {
        return new Draw(id, shard, owner, definition, new Times(times.createdAt, closesAt), chance);
    }

    /** Whether it opens after {@code now}; one that opened when it was made never does, as a packet. */
    public boolean opensAfter(Instant now) {
        return definition.opening().isAfter(createdAt()) && definition.opening().isAfter(now);
    }

    /** The prize of that number, from 1. */
    public Prize prize(int number) {
        return definition.allPrizes().get(number - 1);
    }
}
