/** What every command shares: who calls, in which groups, under which idempotency key, how it is refused, how lists are paged. Immutable values, safe on any thread. */
@NullMarked
package dev.hongbao.command;

import org.jspecify.annotations.NullMarked;
