/**
 * Events for the host application: every settled fact, told at least once, in the order of each packet and draw. Triggers in Postgres
 * write the outbox, a row for each settling statement; here it is read, expanded from the books, and swept. Everything is safe on any
 * thread, and nothing but the sweep changes anything.
 */
@NullMarked
package dev.hongbao.domain.outbox;

import org.jspecify.annotations.NullMarked;
