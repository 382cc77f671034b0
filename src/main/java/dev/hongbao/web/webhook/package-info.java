/**
 * Delivers events to webhooks: one verticle a server, of which one in the whole system delivers at a time. Each webhook has a courier of its
 * own, its own client and its own pace, so that one receiver's trouble is never another's. Everything here belongs to the verticle's
 * event loop, unless its class says otherwise.
 */
@NullMarked
package dev.hongbao.web.webhook;

import org.jspecify.annotations.NullMarked;
