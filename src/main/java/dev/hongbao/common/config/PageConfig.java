package dev.hongbao.common.config;

import java.util.List;

/**
 * What the page that comes with the server may show.
 *
 * @param images https origins from which browsers load pictures of users; empty for none
 */
public record PageConfig(List<String> images) {
    public PageConfig {
        images = List.copyOf(Options.PAGE_IMAGES.require(images));
    }

    static PageConfig from(OptionValues values) {
        return new PageConfig(values.get(Options.PAGE_IMAGES));
    }
}
