/**
 * The configuration: every option declared once, at its component of a record below {@link dev.hongbao.common.config.HongbaoConfig}, read once at start from flags,
 * environment, file and defaults, in that order, into immutable validated records. Nothing here changes after the start;
 * safe on any thread. An error names the option's path, where its value came from and what is allowed.
 */
@NullMarked
package dev.hongbao.common.config;

import org.jspecify.annotations.NullMarked;
