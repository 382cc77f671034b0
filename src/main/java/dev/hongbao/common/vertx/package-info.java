/** What Vert.x lacks. */
@NullMarked
package dev.hongbao.common.vertx;

import org.jspecify.annotations.NullMarked;
