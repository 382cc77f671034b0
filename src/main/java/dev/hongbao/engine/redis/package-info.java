/** Shared Redis mechanics: pinned, pipelined connections that reconnect, and what Redis' errors mean. */
@NullMarked
package dev.hongbao.engine.redis;

import org.jspecify.annotations.NullMarked;
