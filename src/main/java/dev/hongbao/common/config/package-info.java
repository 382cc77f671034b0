/**
 * The configuration: every option defined once in {@link dev.hongbao.common.config.Options}, read once at start from flags,
 * environment, file and defaults, in that order, into immutable validated records. Nothing here changes after the start;
 * safe on any thread. An error names the option's path, where its value came from and what is allowed.
 */
@NullMarked
package dev.hongbao.common.config;

import org.jspecify.annotations.NullMarked;
