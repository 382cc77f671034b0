package dev.hongbao.web.access;

/**
 * What decides whether a call is taken: who calls, how often, and how much at once. One for all faces of a server, so that a
 * user's limits are the same over each of them. Thread-safe.
 */
public record CallLimits(Tokens tokens, RateLimits rates, CallsInFlight inFlight) {}
