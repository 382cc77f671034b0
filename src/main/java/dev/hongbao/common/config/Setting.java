package dev.hongbao.common.config;

/**
 * The unread text of an option.
 *
 * @param text as given; may contain a password
 * @param origin as in {@link ConfigFault#origin}
 */
record Setting(String text, String origin) {}
