/** The audit log: who called for the host application, and who was refused. Rows are only ever added, in an order that readers can follow; they hold no token, no passcode and nothing of a body but the host's own reference. Who asked for money to be moved is in the ledger, with the money. */
@NullMarked
package dev.hongbao.domain.trail;

import org.jspecify.annotations.NullMarked;
