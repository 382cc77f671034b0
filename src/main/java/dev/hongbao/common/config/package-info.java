/**
 * The configuration. Each option is declared once, at its component of a record below {@link
 * dev.hongbao.common.config.HongbaoConfig}. A start reads the options once, from flags, environment, file and defaults, in
 * this order, into validated records.
 *
 * <p>The records are immutable and safe on any thread. An error names the option's path, the source of its value and the
 * allowed values.
 */
@NullMarked
package dev.hongbao.common.config;

import org.jspecify.annotations.NullMarked;
