package dev.hongbao.common.config;

import java.time.Duration;

/**
 * The checks of the books in the background.
 *
 * @param every after so long one of the servers checks what is new since the checkpoint; 0 for never
 */
public record ReconcileConfig(Duration every) {
    public ReconcileConfig {
        Options.RECONCILE_EVERY.require(every);
    }

    static ReconcileConfig from(OptionValues values) {
        return new ReconcileConfig(values.get(Options.RECONCILE_EVERY));
    }
}
