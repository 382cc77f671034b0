/** What every layer shares: who calls, in which groups, under which idempotency key, how a call is refused, how lists are paged. Immutable values, thread-safe; knows no Vert.x. */
@NullMarked
package dev.hongbao.common.values;

import org.jspecify.annotations.NullMarked;
