package dev.hongbao.common.config;

/**
 * What an option was set to, before it is read.
 *
 * @param text as given; may hold a password
 * @param origin as in {@link ConfigFault#origin}
 */
record Setting(String text, String origin) {}
