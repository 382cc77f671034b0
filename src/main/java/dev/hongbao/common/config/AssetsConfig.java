package dev.hongbao.common.config;

import java.util.List;

/** The assets that a start declares. Known assets stay as they are. */
public record AssetsConfig(
        @ConfigOption(
                path = "assets.declared",
                unset = "CNY:2:¥,POINTS:0:POINTS",
                doc = "Assets that a start declares when they are unknown: code, digits behind the point, symbol."
                        + " POST /v1/assets declares more, and sets caps.")
        List<DeclaredAsset> declared) {}
