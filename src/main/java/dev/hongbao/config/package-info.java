/** The configuration: validated records, read once at start from flags, environment, file and defaults, in that order. */
@NullMarked
package dev.hongbao.config;

import org.jspecify.annotations.NullMarked;
