package dev.hongbao.domain.draw;

import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A draw as one viewer may see it.
 *
 * @param prizes what is issued of each prize, by number; empty when the viewer may not see what is left
 * @param chances the viewer's
 * @param finalTable what the close stored; null while the draw is open, or the viewer may not see it
 */
public record DrawView(
        Draw draw,
        Status status,
        List<DrawStore.Progress> prizes,
        Chances chances,
        @Nullable JsonObject finalTable) {
    public DrawView {
        prizes = List.copyOf(prizes);
    }

    /**
     * How often one user has played, and may still.
     *
     * @param left in all; null for no limit
     * @param leftToday today; null for no limit
     */
    public record Chances(
            long plays, @Nullable Long left, @Nullable Long leftToday) {}

    /** Where a draw is in its life. */
    public enum Status {
        /** It opens later. */
        PLANNED,
        OPEN,
        /** Its time is over; what is left goes back to the owner. */
        CLOSING,
        /** Over, and settled. */
        CLOSED
    }
}
