/**
 * The configuration. Each option is declared once, at its component of a record below {@code HongbaoConfig}.
 *
 * <p>A start reads the options once, from flags, environment, file and defaults, in this order, into validated records. An error names the
 * option's path, the source of its value and the allowed values.
 *
 * <p>The command line loads it; rooms take the records that they use. The records are immutable and safe on any thread.
 *
 * <p>Begin with {@code HongbaoConfig}, then {@code ConfigLoader}.
 */
@NullMarked
package dev.hongbao.config;

import org.jspecify.annotations.NullMarked;
