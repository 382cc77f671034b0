/**
 * The configuration. Each option is declared once, at its component of a record below {@code HongbaoConfig}.
 *
 * <p>A start reads the options once, from flags, environment, file and defaults, in this order, into validated records. An error names
 * the option's path, the source of its value and the allowed values.
 *
 * <p>The command line loads it; rooms take the records that they use. The records are immutable and safe on any thread.
 *
 * <p>Public are the records ({@code HongbaoConfig}, {@code WebConfig} for the listeners, and the types of their values), {@code
 * ConfigLoader}, and {@code Option}, which the command line and the guide list.
 *
 * <p>Begin with {@code HongbaoConfig} and {@code WebConfig}, then {@code ConfigLoader}.
 */
@NullMarked
package dev.hongbao.config;

import org.jspecify.annotations.NullMarked;
