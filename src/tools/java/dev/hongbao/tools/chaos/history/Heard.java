package dev.hongbao.tools.chaos.history;

/**
 * An event that a client has heard of over a socket, in the group's feed.
 *
 * @param stretch in which the client has missed nothing: a number of its own from each join without a cursor, or reset, until the next one
 * @param cursor its place in the feed
 * @param fact the type and what it is about
 * @param micros when, of the run's clock
 */
public record Heard(long stretch, long cursor, String fact, long micros) {}
