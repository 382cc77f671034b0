/** The audit: holds the whole database, and Redis against it, to the invariants. Reads only; may run beside a server at work. */
@NullMarked
package dev.hongbao.domain.reconcile;

import org.jspecify.annotations.NullMarked;
