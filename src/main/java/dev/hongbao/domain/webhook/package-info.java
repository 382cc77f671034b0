/**
 * Webhooks: the receivers of the outbox's events, with their secrets and positions. The delivery itself is in {@code web.webhook}.
 *
 * <p>Life of a webhook: the host makes it with a URL, and gets a secret. One server delivers its messages and advances its position. After
 * failures it waits, and at last it is disabled. The host may pause, change, enable or delete it.
 *
 * <p>Callers: {@code web}, through {@code Webhooks} for the API and {@code WebhookStore} for deliveries. Thread-safe.
 *
 * <p>Invariants: one server delivers at a time. A position advances only after a success, or past events that the webhook does not get. So
 * each event is delivered at least once, in order. A URL never reaches an address that {@code AddressGuard} forbids.
 *
 * <p>Begin with {@code Webhook}, then {@code Webhooks}.
 */
@NullMarked
package dev.hongbao.domain.webhook;

import org.jspecify.annotations.NullMarked;
