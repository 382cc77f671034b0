package dev.hongbao.web.access;

import java.util.function.LongConsumer;

/**
 * What a caller used of a limit on this server, to be told to the other servers once.
 *
 * @param name of the limit and the caller, the same on all servers
 * @param millis in which it comes back; negative when more was given back than used
 * @param mostMillis of use that is remembered of a caller
 * @param heard told what all servers used, this one among them, in milliseconds in which it comes back: what others used then
 *     counts here. At most once, on any thread; never when that was not heard
 */
public record RateUse(String name, long millis, long mostMillis, LongConsumer heard) {}
