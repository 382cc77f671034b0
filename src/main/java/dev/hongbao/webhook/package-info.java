/**
 * The outbox and the webhooks: every settled fact, for the host application.
 *
 * <p>A trigger, or the settling function itself, writes one row for each settled shard; a row only names facts. {@code OutboxHead} finds the
 * complete rows. {@code OutboxReader} expands them from the books, for a poll or a webhook. One server delivers the messages of all
 * webhooks, each by a {@code Courier} of its own, and advances their positions. After failures a webhook waits, and at last it is disabled.
 *
 * <p>Public is only the door {@code Outbox}, which makes the others. The server deploys its courier, {@code WebhookVerticle}, whose classes
 * are confined to its event loop. Stores and readers are thread-safe.
 *
 * <p>Every fact is delivered at least once, in the order of its packet or draw, after any crash (I16). An event keeps its id for ever. A
 * position advances only after a success. A URL never reaches an address that {@code AddressGuard} forbids.
 *
 * <p>Begin with {@code Outbox} and {@code OutboxReader}, then {@code Webhooks} and {@code Courier}. A call begins in {@code WebhookRoutes}.
 */
@NullMarked
package dev.hongbao.webhook;

import org.jspecify.annotations.NullMarked;
