package dev.hongbao.common.config;

import java.util.List;

/**
 * The configuration and how it came to be.
 *
 * @param effective every option in the order of the documentation
 */
public record LoadedConfig(HongbaoConfig config, List<Effective> effective) {
    public LoadedConfig {
        effective = List.copyOf(effective);
    }

    /**
     * An option's value.
     *
     * @param text without passwords
     * @param origin as in {@link ConfigFault#origin}, or {@code default}
     * @param isDefault whether the value is the default one, wherever it came from
     */
    public record Effective(Option<?> option, String text, String origin, boolean isDefault) {}
}
