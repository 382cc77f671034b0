/**
 * Access to calls: signed tokens (JWT) pinned to the configured keys, token buckets, and calls in flight. Limits live in this
 * server's memory, shared by HTTP, WebSockets and all event loops; usage on other servers counts when their report arrives.
 * Thread-safe; bounded.
 */
@NullMarked
package dev.hongbao.web.access;

import org.jspecify.annotations.NullMarked;
