package dev.hongbao.draw;

import dev.hongbao.values.Named;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One viewer's view of a draw.
 *
 * @param prizes the issued number of each prize; empty when the viewer may not see what is left
 * @param plays the viewer's past plays
 * @param left the viewer's remaining plays in total; null for no limit
 * @param leftToday the viewer's remaining plays today; null for no limit
 * @param seed 64 hexadecimal digits, the source of all its random numbers, published after the close; null while it is open
 * @param books of a closed draw, for the service role; null for others
 */
record DrawView(
        Draw draw,
        Status status,
        List<DrawStore.Progress> prizes,
        long plays,
        @Nullable Long left,
        @Nullable Long leftToday,
        @Nullable String seed,
        @Nullable Books books) {
    public DrawView {
        prizes = List.copyOf(prizes);
    }

    /**
     * The facts that its owner needs for a replay.
     *
     * @param finalTable stored by the close
     * @param definition in the commitment's form
     * @param quotas that differ from the definition
     */
    public record Books(JsonObject finalTable, String definition, List<Quota> quotas) {
        public Books {
            quotas = List.copyOf(quotas);
        }
    }

    /**
     * The quota of a prize in a period.
     *
     * @param prize from 1
     * @param period from 0
     */
    public record Quota(int prize, int period, long quota) {}

    /** The state of a draw. */
    public enum Status implements Named {
        /** Before its opening. */
        PLANNED,
        OPEN,
        /** After its end. The remainder returns to the owner. */
        CLOSING,
        /** Closed, and settled. */
        CLOSED
    }
}
