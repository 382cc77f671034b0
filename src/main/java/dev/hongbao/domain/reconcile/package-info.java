/** The audit: holds the whole database, and Redis against it, to the invariants. Writes its checkpoint and
 * what it found, and nothing else; may run beside a server at work. */
@NullMarked
package dev.hongbao.domain.reconcile;

import org.jspecify.annotations.NullMarked;
