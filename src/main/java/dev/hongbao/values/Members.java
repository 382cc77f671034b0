package dev.hongbao.values;

import java.util.HashSet;
import java.util.Set;

/**
 * The members of something that may be for several groups. Immutable.
 *
 * @param everyone whether every user is a member; {@code groups} is then ignored
 * @param groups the groups whose members belong
 */
public record Members(boolean everyone, Set<GroupId> groups) {
    public static final Members NONE = new Members(false, Set.of());

    public Members {
        groups = Set.copyOf(groups);
    }

    public static Members of(GroupId group) {
        return new Members(false, Set.of(group));
    }

    /** These members and the members of one more group. */
    public Members and(GroupId group) {
        Set<GroupId> all = new HashSet<>(groups);
        all.add(group);
        return new Members(everyone, all);
    }

    public boolean include(Caller caller) {
        return everyone || groups.stream().anyMatch(caller::isMemberOf);
    }
}
