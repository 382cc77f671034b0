package dev.hongbao.draw;

import dev.hongbao.draw.odds.Prize;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.UserId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A user's settled play.
 *
 * @param seq its number in the draw, from 0
 * @param number the prize's number, from 1
 * @param code the winner's code; null for a prize without codes
 * @param at the time of the decision
 */
public record Play(
        DrawId draw,
        long seq,
        UserId user,
        int number,
        Prize prize,
        @Nullable String code,
        Instant at) {}
