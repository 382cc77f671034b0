package dev.hongbao.domain.profile;

import dev.hongbao.common.values.PictureUrl;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.profile.Profile.GivenBy;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Profiles in Postgres. Thread-safe. */
final class ProfileStore {
    private static final String FIND =
            "select user_id, display_name, avatar, given_by from profile where user_id = any ($1)";

    private static final String PUT = "insert into profile (user_id, display_name, avatar, given_by)"
            + " values ($1, $2, $3, 'service') on conflict (user_id) do update set display_name = excluded.display_name,"
            + " avatar = excluded.avatar, given_by = 'service', changed_at = now()";

    /** Sorted by user, so that servers do not deadlock. */
    private static final String TAKE = "insert into profile as p (user_id, display_name, avatar, given_by)"
            + " select u.user_id, u.display_name, u.avatar, 'token'"
            + " from unnest($1::text[], $2::text[], $3::text[]) as u(user_id, display_name, avatar) order by 1"
            + " on conflict (user_id) do update set display_name = excluded.display_name, avatar = excluded.avatar,"
            + " changed_at = now() where p.given_by = 'token'"
            + " and (p.display_name, p.avatar) is distinct from (excluded.display_name, excluded.avatar)"
            + " returning user_id";

    private final Pool pool;

    ProfileStore(Pool pool) {
        this.pool = pool;
    }

    /** The stored profiles. Users without one are absent. */
    Future<Map<UserId, Profile.Stored>> find(Collection<UserId> users) {
        return pool.preparedQuery(FIND).execute(Tuple.of(names(users))).map(rows -> {
            Map<UserId, Profile.Stored> found = new HashMap<>();
            rows.forEach(row -> found.put(new UserId(row.getString("user_id")), stored(row)));
            return found;
        });
    }

    private static String[] names(Collection<UserId> users) {
        return users.stream().map(UserId::value).toArray(String[]::new);
    }

    private static Profile.Stored stored(Row row) {
        String avatar = row.getString("avatar");
        return new Profile.Stored(
                new Profile(row.getString("display_name"), avatar == null ? null : new PictureUrl(avatar)),
                GivenBy.valueOf(row.getString("given_by").toUpperCase(Locale.ROOT)));
    }

    Future<Void> put(UserId user, Profile profile) {
        return pool.preparedQuery(PUT)
                .execute(Tuple.of(user.value(), profile.displayName(), avatar(profile)))
                .mapEmpty();
    }

    Future<Void> delete(UserId user) {
        return pool.preparedQuery("delete from profile where user_id = $1")
                .execute(Tuple.of(user.value()))
                .mapEmpty();
    }

    /**
     * Stores the profiles of tokens, except for users with a profile from the service.
     *
     * @return the users whose profile changed
     */
    Future<List<UserId>> take(Map<UserId, Profile> said) {
        List<UserId> users = List.copyOf(said.keySet());
        List<Profile> profiles = users.stream().map(said::get).toList();
        return pool.preparedQuery(TAKE)
                .execute(Tuple.of(
                        names(users),
                        profiles.stream().map(Profile::displayName).toArray(String[]::new),
                        profiles.stream().map(ProfileStore::avatar).toArray(String[]::new)))
                .map(rows -> StreamSupport.stream(rows.spliterator(), false)
                        .map(row -> new UserId(row.getString("user_id")))
                        .toList());
    }

    private static @Nullable String avatar(Profile profile) {
        return profile.avatar() == null ? null : profile.avatar().value();
    }
}
