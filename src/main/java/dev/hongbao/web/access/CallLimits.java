package dev.hongbao.web.access;

/**
 * The checks that admit a call: token, rate, and calls in flight. HTTP and WebSockets share one instance, so a user's limits
 * cover both. Thread-safe.
 */
public record CallLimits(Tokens tokens, RateLimits rates, CallsInFlight inFlight) {}
