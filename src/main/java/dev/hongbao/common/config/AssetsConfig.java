package dev.hongbao.common.config;

import java.util.List;

/**
 * What is counted.
 *
 * @param declared at a start, as far as they are unknown; each code once
 */
public record AssetsConfig(List<DeclaredAsset> declared) {
    public AssetsConfig {
        declared = List.copyOf(Options.ASSETS_DECLARED.require(declared));
    }

    static AssetsConfig from(OptionValues values) {
        return new AssetsConfig(values.get(Options.ASSETS_DECLARED));
    }
}
