/**
 * The outbox: every settled fact, for the host application.
 *
 * <p>Life of an event: a trigger, or the settling function itself, writes one row for each settled shard; a row only names facts. {@code
 * OutboxHead} finds the complete rows. {@code OutboxReader} expands them from the books and answers a poll or a webhook. A sweep removes
 * old rows.
 *
 * <p>Callers: {@code web}, for the API and the webhooks; {@code webhook}, for positions; {@code server}, for the sweep. All types except
 * {@code OutboxPoll} are safe on any thread. Reading changes nothing.
 *
 * <p>Invariants: every fact is delivered at least once, in the order of its packet or draw, after any crash (I16). An event keeps its id
 * for ever. A gap is reported with its reason.
 *
 * <p>Begin with {@code OutboxCursor}, then {@code OutboxReader}.
 */
@NullMarked
package dev.hongbao.domain.outbox;

import org.jspecify.annotations.NullMarked;
