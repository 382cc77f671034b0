/**
 * Two helpers that Vert.x lacks: hand-over of settlements to event loops, and clients with a life of their own.
 *
 * <p>Every layer may call them. Neither knows packets, draws or the stores. Begin with {@link LoopListeners}: every settled claim
 * passes it.
 */
@NullMarked
package dev.hongbao.common.vertx;

import org.jspecify.annotations.NullMarked;
