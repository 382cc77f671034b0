package dev.hongbao.domain.fulfilment;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.draw.Play;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A play that won a prize with an award or a category.
 *
 * @param nth the how many-th of its prize, from 1
 * @param last the latest change; null when the host application has done nothing
 */
public record Win(Play play, long nth, @Nullable Change last) {
    /**
     * What the host application has done about it.
     *
     * @param n its place among the win's changes, from 1
     * @param note null for none
     * @param actor who: the subject of a service's token
     */
    public record Change(
            int n, FulfilmentState state, @Nullable String note, UserId actor, Instant at) {}

    /** A win with all its changes, the earliest first. */
    public record Told(Win win, List<Change> history) {
        public Told {
            history = List.copyOf(history);
        }
    }

    /** How far it has come. */
    public FulfilmentState state() {
        return last == null ? FulfilmentState.first(play.drawn().prize()) : last.state;
    }
}
