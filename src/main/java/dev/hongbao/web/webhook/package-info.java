/**
 * Delivers events to webhooks: one verticle per server, of which only one in the cluster delivers at a time. Each webhook has its
 * own courier, client and pace, so that a failing receiver does not delay others. Classes are confined to the verticle's event
 * loop, unless they say otherwise.
 */
@NullMarked
package dev.hongbao.web.webhook;

import org.jspecify.annotations.NullMarked;
