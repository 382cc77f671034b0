package dev.hongbao.common.values;

import java.time.Instant;
import java.util.Set;

/**
 * Who calls, as a verified token says.
 *
 * @param user the token's {@code sub}
 * @param groups where the user may act; may be empty
 * @param role plain user or service
 * @param expiresAt when the token ends
 */
public record Caller(UserId user, Set<GroupId> groups, Role role, Instant expiresAt) {
    public Caller {
        groups = Set.copyOf(groups);
    }

    /** Whether the user may act in {@code group}. */
    public boolean isMemberOf(GroupId group) {
        return groups.contains(group);
    }
}
