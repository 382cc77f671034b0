package dev.hongbao.common.values;

import java.time.Instant;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who calls, as a verified token says.
 *
 * @param user the token's {@code sub}
 * @param groups where the user may act; may be empty
 * @param role plain user or service
 * @param expiresAt when the token ends
 * @param traits what else the token says of the user, such as {@code tier}: at most {@link #MAX_TRAITS} claims that are text
 * @param issuedAt when the token was made, to the second below; null when it does not say
 */
public record Caller(
        UserId user,
        Set<GroupId> groups,
        Role role,
        Instant expiresAt,
        Map<String, String> traits,
        @Nullable Instant issuedAt) {
    /** Further ones of a token are left out. */
    public static final int MAX_TRAITS = 16;

    /** Of a trait's name and of its text; a longer one is left out. */
    public static final int MAX_TRAIT_LENGTH = 64;

    public Caller {
        groups = Set.copyOf(groups);
        traits = Map.copyOf(traits);
    }

    /** A caller of whom no more is known. */
    public Caller(UserId user, Set<GroupId> groups, Role role, Instant expiresAt) {
        this(user, groups, role, expiresAt, Map.of(), null);
    }

    /** Whether the user may act in {@code group}. */
    public boolean isMemberOf(GroupId group) {
        return groups.contains(group);
    }
}
