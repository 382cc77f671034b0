package dev.hongbao.domain.draw;

import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What an export of a draw holds, one after the other: first the periods of its schedule, then its plays, each in order. */
public sealed interface Exported {
    /**
     * A period as it was planned.
     *
     * @param number from 0
     * @param planned how many of each scheduled prize, by number
     */
    record Period(DrawId draw, int number, List<Integer> planned) implements Exported {
        public Period {
            planned = List.copyOf(planned);
        }
    }

    /**
     * A play with what is needed to replay it.
     *
     * @param turn the request it belongs to, whose plays follow on each other; it names the play's random numbers
     * @param scheduled null unless the draw has a schedule
     */
    record Played(Play play, UUID turn, @Nullable Scheduled scheduled) implements Exported {}

    /**
     * Of a play of a schedule.
     *
     * @param loaded the last period that was on the schedule when it was played, -1 for none
     * @param release that it took; null for none
     */
    record Scheduled(int loaded, @Nullable Release release) {}

    /** A scheduled prize. @param period from 0 @param number its place among the prize's moments in the period, from 1 */
    record Release(int period, int number) {}
}
