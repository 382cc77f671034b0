package dev.hongbao.common.config;

import dev.hongbao.common.config.ConfigOption.Kind;
import java.util.List;

/** The page that comes with the server. */
public record PageConfig(
        @ConfigOption(
                path = "page.images",
                kind = Kind.SECURE_ORIGINS,
                doc = "Where the page loads pictures of users from; without any it draws their initials. Who runs"
                        + " such a place sees the addresses of those who look.")
        List<String> images) {}
