/**
 * Feeds: the events of a group, in one order for all readers.
 *
 * <p>A trigger, the sending server or the shard's owner writes an event into {@code group_event}; {@code FeedOwnerTask} writes for packets,
 * {@code DrawFeedTask} for draws, {@code RainFeedTask} for rains. {@code FeedHub} finds it, once a server, and publishes it to every event
 * loop. {@code FeedFollower} notifies sockets and polls. A reader that is behind reads Postgres. {@code FeedTrimmer} removes old events.
 *
 * <p>Public: the door {@code Feeds}, and {@code FeedService}, with which {@code ws} follows and reads on its event loop. The call
 * {@code listEvents} is {@code EventsRoute}. Owner tasks run on the persistence verticle's loop.
 *
 * <p>Events come from settled facts only. A group's events are never delivered out of order. A cursor belongs to one group. A reader with a
 * gap gets the current state and the reason.
 *
 * <p>Begin with {@code Feeds}, which names the writer of each event; then {@code FeedHub} and {@code FeedService}.
 */
@NullMarked
package dev.hongbao.feed;

import org.jspecify.annotations.NullMarked;
