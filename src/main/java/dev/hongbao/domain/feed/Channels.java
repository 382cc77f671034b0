package dev.hongbao.domain.feed;

import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.Members;
import io.vertx.core.Future;

/** Knows the groups with members beyond the users whose token names the group: the channels of rains. Thread-safe. */
public interface Channels {
    /** The audience of a group; it never changes. Completed at once for a group that is no channel. */
    Future<Members> members(GroupId group);
}
