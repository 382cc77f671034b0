/**
 * The receivers of events: webhooks, their secrets and how far each has come, in Postgres. The delivery itself is {@code web.webhook}.
 * Thread-safe.
 */
@NullMarked
package dev.hongbao.domain.webhook;

import org.jspecify.annotations.NullMarked;
