package dev.hongbao.common.config;

import java.util.List;

/**
 * The configuration with the source of each value.
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
     * @param isDefault whether the value equals the default, from any source
     */
    public record Effective(Option<?> option, String text, String origin, boolean isDefault) {}
}
