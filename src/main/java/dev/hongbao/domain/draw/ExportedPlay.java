package dev.hongbao.domain.draw;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A play as an export has it, with what is needed to replay it.
 *
 * @param turn the request it belongs to, whose plays follow on each other; it names the play's random numbers
 * @param release that it took; null for none
 */
public record ExportedPlay(Play play, UUID turn, @Nullable Release release) {
    /** A scheduled prize. @param period from 0 @param number its place among the prize's moments in the period, from 1 */
    public record Release(int period, int number) {}
}
