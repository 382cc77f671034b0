/** The composition root: what is started, in which order, and stopped in reverse. */
@NullMarked
package dev.hongbao.server;

import org.jspecify.annotations.NullMarked;
