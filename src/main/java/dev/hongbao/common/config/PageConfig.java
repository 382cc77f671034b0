package dev.hongbao.common.config;

import dev.hongbao.common.config.ConfigOption.Kind;
import java.util.List;

/** The server's own page. */
public record PageConfig(
        @ConfigOption(
                path = "page.images",
                kind = Kind.SECURE_ORIGINS,
                doc = "Origins from which the page loads users' pictures; without any it draws initials. The"
                        + " operators of such an origin see the addresses of the page's users.")
        List<String> images) {}
