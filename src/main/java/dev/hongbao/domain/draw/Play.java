package dev.hongbao.domain.draw;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.odds.Prize;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One user's settled go at a draw, and what it won.
 *
 * @param seq its place in the draw, from 0
 * @param drawn what it won
 * @param at the time that decided it
 */
public record Play(DrawId draw, long seq, UserId user, Drawn drawn, Instant at) {
    /**
     * The prize of one play.
     *
     * @param number the prize's number, from 1
     * @param code the code that was handed out; null for a prize without
     */
    public record Drawn(int number, Prize prize, @Nullable String code) {}
}
