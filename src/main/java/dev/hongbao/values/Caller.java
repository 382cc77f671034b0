package dev.hongbao.values;

import java.time.Instant;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The caller of a request, as its verified token names it.
 *
 * @param user the token's {@code sub}
 * @param groups where the user may act; may be empty
 * @param role plain user or service
 * @param expiresAt when the token ends
 * @param traits further claims of the token that are text, such as {@code tier}: at most {@link #MAX_TRAITS}
 * @param issuedAt when the token was made, rounded down to the second; null if the token does not say
 */
public record Caller(
        UserId user,
        Set<GroupId> groups,
        Role role,
        Instant expiresAt,
        Map<String, String> traits,
        @Nullable Instant issuedAt) {
    /** A token's further traits are left out. */
    public static final int MAX_TRAITS = 16;

    /** The limit of a trait's name and of its text, in characters; longer ones are left out. */
    public static final int MAX_TRAIT_LENGTH = 64;

    public Caller {
        groups = Set.copyOf(groups);
        traits = Map.copyOf(traits);
    }

    /** A caller without traits and without a time of issue. */
    public Caller(UserId user, Set<GroupId> groups, Role role, Instant expiresAt) {
        this(user, groups, role, expiresAt, Map.of(), null);
    }

    /**
     * A user for whom this backend acts. The user has no token, so there is no time of issue: revocations are about tokens, and are not
     * asked.
     */
    public Caller actingFor(UserId forUser, Set<GroupId> inGroups, Map<String, String> withTraits) {
        return new Caller(forUser, inGroups, Role.USER, expiresAt, withTraits, null);
    }

    public boolean isMemberOf(GroupId group) {
        return groups.contains(group);
    }

    /** The rights of a caller. */
    public enum Role {
        /** A plain user: acts for itself, in its groups. */
        USER,
        /** The host application's backend: moves money in and out, reads any user, makes draws. */
        SERVICE
    }
}
