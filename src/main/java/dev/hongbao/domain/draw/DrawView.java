package dev.hongbao.domain.draw;

import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A draw as one viewer may see it.
 *
 * @param prizes what is issued of each prize, by number; empty when the viewer may not see what is left
 * @param chances the viewer's
 * @param end what its close brings to light; null while the draw is open
 */
public record DrawView(
        Draw draw,
        Status status,
        List<DrawStore.Progress> prizes,
        Chances chances,
        @Nullable End end) {
    public DrawView {
        prizes = List.copyOf(prizes);
    }

    /**
     * What a closed draw tells.
     *
     * @param seed 64 hexadecimal digits, from which all its chance came
     * @param books for the service role; null for others
     */
    public record End(String seed, @Nullable Books books) {}

    /**
     * What its owner needs to replay it.
     *
     * @param finalTable what the close stored
     * @param definition as the commitment holds it
     * @param quotas that differ from the definition's
     */
    public record Books(JsonObject finalTable, String definition, List<Quota> quotas) {
        public Books {
            quotas = List.copyOf(quotas);
        }
    }

    /** The quota of a prize in a period. @param prize from 1 @param period from 0 */
    public record Quota(int prize, int period, long quota) {}

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
