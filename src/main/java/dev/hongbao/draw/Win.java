package dev.hongbao.draw;

import dev.hongbao.values.UserId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A play that won a prize with an award or a category.
 *
 * @param nth its place among the wins of its prize, from 1
 * @param last the latest change; null before the host's first one
 */
record Win(Play play, long nth, @Nullable Change last) {
    /**
     * The host application's action on a win.
     *
     * @param n its place among the win's changes, from 1
     * @param note null for none
     * @param actor the subject of the service's token
     */
    public record Change(
            int n, FulfilmentState state, @Nullable String note, UserId actor, Instant at) {}

    /** A win with all its changes, earliest first. */
    public record Told(Win win, List<Change> history) {
        public Told {
            history = List.copyOf(history);
        }
    }

    public FulfilmentState state() {
        return last == null ? FulfilmentState.first(play.prize()) : last.state;
    }
}
