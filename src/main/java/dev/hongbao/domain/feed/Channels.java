package dev.hongbao.domain.feed;

import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.Members;
import io.vertx.core.Future;

/** Knows which groups have other members than those whose token names them: the channels of rains. Thread-safe. */
public interface Channels {
    /** Who may follow a group; what it says of a group never changes. At hand for every group that is no channel. */
    Future<Members> members(GroupId group);
}
