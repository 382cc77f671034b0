package dev.hongbao.domain.profile;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.common.values.UserId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
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

    /** Profiles stored in one statement. */
    private static final int MAX_TAKEN = 500;

    private final ProfileStore store;
    private final Cache<UserId, Profile> known = Caffeine.newBuilder()
            .maximumSize(MAX_CACHED)
            .expireAfterWrite(KEPT)
            .executor(Runnable::run)
            .build();
    private final ConcurrentMap<UserId, Profile> waiting = new ConcurrentHashMap<>();
    private final AtomicBoolean taking = new AtomicBoolean();

    /** @param pool of the requests */
    public Profiles(Pool pool) {
        this.store = new ProfileStore(pool);
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
        return store.find(missing)
                .map(stored -> {
                    for (UserId user : missing) {
                        Profile.Stored one = stored.get(user);
                        Profile profile = one == null ? Profile.NONE : one.profile();
                        known.put(user, profile);
                        if (!profile.isEmpty()) {
                            found.put(user, profile);
                        }
                    }
                    return found;
                })
                .otherwise(found);
    }

    /** A user's stored profile. */
    public Future<Profile.Stored> find(UserId user) {
        return store.find(Set.of(user)).map(found -> found.getOrDefault(user, new Profile.Stored(Profile.NONE, null)));
    }

    /** Sets a user's profile, in place of any token's. An empty profile shows the id. Idempotent. */
    public Future<Void> put(UserId user, Profile profile) {
        return forgetting(user, store.put(user, profile));
    }

    /** Removes the stored profile. The user's next token may set it again. Idempotent. */
    public Future<Void> delete(UserId user) {
        return forgetting(user, store.delete(user));
    }

    private Future<Void> forgetting(UserId user, Future<Void> change) {
        waiting.remove(user);
        return change.onComplete(done -> known.invalidate(user));
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
        store.take(said)
                .onSuccess(changed -> {
                    said.forEach(waiting::remove);
                    changed.forEach(known::invalidate);
                })
                .onFailure(fault -> LOG.warn(
                        "the names of {} users, from their tokens, are not stored yet, it is tried again: {}",
                        said.size(),
                        fault.toString()))
                .onComplete(done -> taking.set(false));
    }
}
