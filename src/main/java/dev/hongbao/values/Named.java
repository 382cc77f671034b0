package dev.hongbao.values;

import java.util.Locale;

/** An enum whose constants have names in the API and in the tables. */
public interface Named {
    /** The name in Java: upper case, with underscores. */
    String name();

    /** The name in the API and in the tables: lower case, with hyphens. */
    default String wireName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
