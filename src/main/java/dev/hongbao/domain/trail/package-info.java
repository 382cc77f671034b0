/**
 * The audit log: calls of the host application, and refused calls of anyone.
 *
 * <p>Life of a row: {@code web} notes a call. {@code Repeats} counts equal calls of a minute. {@code AuditLog} writes the rows, many in one
 * statement. {@code AuditReader} lists and exports them. They are removed after their retention.
 *
 * <p>Callers: {@code web}; {@code server}, which starts and stops the log. Thread-safe.
 *
 * <p>Invariants: rows are added in an order that readers can follow, and never changed. They hold no token, no passcode, and no part of a
 * body except the host's own reference. The ledger, not this log, records who asked to move money.
 *
 * <p>Begin with {@code AuditRow}, then {@code AuditLog}.
 */
@NullMarked
package dev.hongbao.domain.trail;

import org.jspecify.annotations.NullMarked;
