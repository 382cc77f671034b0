package dev.hongbao.access;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.PictureUrl;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Users' profiles: a bounded cache over Postgres, also of users without a profile. A change shows at once on the server that makes it, and
 * within {@link #KEPT} on the others. Thread-safe.
 */
public final class Profiles {
    /** The time after which a cached profile is read again. */
    public static final Duration KEPT = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(Profiles.class);

    /** About 300 bytes each. */
    private static final int MAX_CACHED = 50_000;

    /** Users in one lookup, more than a page has. Further users are shown by their id. */
    private static final int MAX_ASKED = 1_000;

    /** Profiles of tokens that wait to be stored. Further ones are dropped until the token is seen again. */
    private static final int MAX_WAITING = 10_000;

    private static final int MAX_TAKEN = 500;

    private static final String FIND =
            "select user_id, display_name, avatar, given_by from profile where user_id = any ($1)";

    private static final String PUT = """
        insert into profile (user_id, display_name, avatar, given_by) values ($1, $2, $3, 'service')
        on conflict (user_id) do update
        set display_name = excluded.display_name, avatar = excluded.avatar, given_by = 'service', changed_at = now()
        """;

    /** Sorted by user, so that servers do not deadlock. Leaves a profile from the service as it is. */
    private static final String TAKE = """
        insert into profile as p (user_id, display_name, avatar, given_by)
        select u.user_id, u.display_name, u.avatar, 'token'
        from unnest($1::text[], $2::text[], $3::text[]) as u(user_id, display_name, avatar) order by 1
        on conflict (user_id) do update
        set display_name = excluded.display_name, avatar = excluded.avatar, changed_at = now()
        where p.given_by = 'token' and (p.display_name, p.avatar) is distinct from (excluded.display_name, excluded.avatar)
        returning user_id
        """;

    private final Pool pool;
    private final Cache<UserId, Profile> known = Caffeine.newBuilder()
            .maximumSize(MAX_CACHED)
            .expireAfterWrite(KEPT)
            .executor(Runnable::run)
            .build();
    private final ConcurrentMap<UserId, Profile> waiting = new ConcurrentHashMap<>();
    private final AtomicBoolean taking = new AtomicBoolean();
    private final AtomicLong changes = new AtomicLong();

    /** @param pool of the requests */
    public Profiles(Pool pool) {
        this.pool = pool;
    }

    /**
     * The profiles of users who have one. Never fails: without an answer of Postgres, ids are shown.
     *
     * @param users may contain duplicates
     */
    public Future<Map<UserId, Profile>> of(Collection<UserId> users) {
        Map<UserId, Profile> found = new HashMap<>();
        Set<UserId> missing = new LinkedHashSet<>();
        for (UserId user : users) {
            Profile profile = known.getIfPresent(user);
            if (profile == null && missing.size() < MAX_ASKED) {
                missing.add(user);
            } else if (profile != null && !profile.isEmpty()) {
                found.put(user, profile);
            }
        }
        if (missing.isEmpty()) {
            return Future.succeededFuture(found);
        }
        long before = changes.get();
        return read(missing)
                .map(stored -> {
                    for (UserId user : missing) {
                        Profile.Stored one = stored.get(user);
                        Profile profile = one == null ? Profile.NONE : one.profile();
                        known.put(user, profile);
                        if (!profile.isEmpty()) {
                            found.put(user, profile);
                        }
                    }
                    if (changes.get() != before) { // what was read may be from before a change
                        known.invalidateAll(missing);
                    }
                    return found;
                })
                .otherwise(found);
    }

    /** The stored profiles. Users without one are absent. */
    private Future<Map<UserId, Profile.Stored>> read(Collection<UserId> users) {
        return pool.preparedQuery(FIND).execute(Tuple.of(names(users))).map(rows -> {
            Map<UserId, Profile.Stored> found = new HashMap<>();
            rows.forEach(row -> found.put(new UserId(row.getString("user_id")), stored(row)));
            return found;
        });
    }

    private static String[] names(Collection<UserId> users) {
        return Rows.texts(users, UserId::value);
    }

    private static Profile.Stored stored(Row row) {
        String avatar = row.getString("avatar");
        return new Profile.Stored(
                new Profile(row.getString("display_name"), avatar == null ? null : new PictureUrl(avatar)),
                row.getString("given_by"));
    }

    public Future<Profile.Stored> find(UserId user) {
        return read(Set.of(user)).map(found -> found.getOrDefault(user, new Profile.Stored(Profile.NONE, null)));
    }

    /** Sets a user's profile, in place of any token's. An empty profile shows the id. Idempotent. */
    public Future<Void> put(UserId user, Profile profile) {
        return forgetting(
                user, pool.preparedQuery(PUT).execute(Tuple.of(user.value(), profile.displayName(), avatar(profile))));
    }

    /** Removes the stored profile. The user's next token may set it again. Idempotent. */
    public Future<Void> delete(UserId user) {
        return forgetting(
                user,
                pool.preparedQuery("delete from profile where user_id = $1").execute(Tuple.of(user.value())));
    }

    private Future<Void> forgetting(UserId user, Future<RowSet<Row>> change) {
        waiting.remove(user);
        return change.onComplete(done -> {
                    changes.incrementAndGet();
                    known.invalidate(user);
                })
                .mapEmpty();
    }

    /** Notes the profile of a new token. Never blocks; the next {@link #take} stores it. */
    public void seen(UserId user, Profile said) {
        if (!said.isEmpty() && !said.equals(known.getIfPresent(user)) && waiting.size() < MAX_WAITING) {
            waiting.put(user, said);
        }
    }

    /** Stores the noted profiles. Does nothing while an earlier call is under way. Called periodically. */
    public void take() {
        if (waiting.isEmpty() || !taking.compareAndSet(false, true)) {
            return;
        }
        Map<UserId, Profile> said = new HashMap<>();
        for (Map.Entry<UserId, Profile> each : waiting.entrySet()) {
            if (said.size() < MAX_TAKEN) {
                said.put(each.getKey(), each.getValue());
            }
        }
        List<UserId> users = List.copyOf(said.keySet());
        List<Profile> profiles = users.stream().map(said::get).toList();
        pool.preparedQuery(TAKE)
                .execute(Tuple.of(
                        names(users),
                        Rows.texts(profiles, Profile::displayName),
                        Rows.texts(profiles, Profiles::avatar)))
                .onSuccess(changed -> {
                    said.forEach(waiting::remove);
                    changed.forEach(row -> known.invalidate(new UserId(row.getString("user_id"))));
                })
                .onFailure(fault -> LOG.warn(
                        "the names of {} users, from their tokens, are not stored yet, it is tried again: {}",
                        said.size(),
                        fault.toString()))
                .onComplete(done -> taking.set(false));
    }

    private static @Nullable String avatar(Profile profile) {
        return profile.avatar() == null ? null : profile.avatar().value();
    }
}
