package dev.hongbao.draw;

import dev.hongbao.values.DrawId;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** An item of a draw's export: first the periods of its schedule, then its plays, each in order. */
public sealed interface Exported {
    /**
     * A planned period.
     *
     * @param number from 0
     * @param planned the number of releases of each scheduled prize, by number
     */
    record Period(DrawId draw, int number, List<Integer> planned) implements Exported {
        public Period {
            planned = List.copyOf(planned);
        }
    }

    /**
     * A play with the facts for its replay.
     *
     * @param turn id of its request, whose plays are consecutive; it names the play's random numbers
     * @param loaded the last period on the schedule during the play, -1 for none; null unless the draw has a schedule
     * @param period of the taken release, from 0; null for none
     * @param release its place among the prize's moments in the period, from 1; null for none
     */
    record Played(
            Play play,
            UUID turn,
            @Nullable Integer loaded,
            @Nullable Integer period,
            @Nullable Integer release) implements Exported {}
}
