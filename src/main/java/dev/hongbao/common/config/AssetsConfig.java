package dev.hongbao.common.config;

import java.util.List;

/** What is counted: the assets that are declared at a start, as far as they are unknown; each code once. */
public record AssetsConfig(
        @ConfigOption(
                path = "assets.declared",
                unset = "CNY:2:¥,POINTS:0:POINTS",
                doc = "Assets that a start declares when nobody has: code, digits behind the point, symbol. POST"
                        + " /v1/assets declares more, and caps.")
        List<DeclaredAsset> declared) {}
