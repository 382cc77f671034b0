package dev.hongbao.common.values;

import java.util.HashSet;
import java.util.Set;

/**
 * Who counts as a member of something that is for more than one group. Immutable.
 *
 * @param everyone whether all users do; then no group is looked at
 * @param groups whose members do
 */
public record Members(boolean everyone, Set<GroupId> groups) {
    /** Nobody. */
    public static final Members NONE = new Members(false, Set.of());

    public Members {
        groups = Set.copyOf(groups);
    }

    /** The members of one group. */
    public static Members of(GroupId group) {
        return new Members(false, Set.of(group));
    }

    /** These and the members of one more group. */
    public Members and(GroupId group) {
        Set<GroupId> all = new HashSet<>(groups);
        all.add(group);
        return new Members(everyone, all);
    }

    /** Whether {@code caller} is one. */
    public boolean include(Caller caller) {
        return everyone || groups.stream().anyMatch(caller::isMemberOf);
    }
}
