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
 * How users are shown: a bounded cache over Postgres, also of those of whom nothing is known. A change shows at once on the server that
 * makes it, and within {@link #KEPT} on the others. Thread-safe.
 */
public final class Profiles {
    /** How long a profile is believed without asking again. */
    public static final Duration KEPT = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(Profiles.class);

    /** Some 300 bytes each. */
    private static final int MAX_CACHED = 50_000;

    /** Users asked for at a time: more than a page has. Of further ones the ids are shown. */
    private static final int MAX_ASKED = 1_000;

    /** What tokens say and is not stored yet; of further tokens it is forgotten, until they are seen again. */
    private static final int MAX_WAITING = 10_000;

    /** Stored at a time. */
    private static final int MAX_TAKEN = 500;

    private final ProfileStore store;
    private final Cache<UserId, Profile> known = Caffeine.newBuilder()
            .maximumSize(MAX_CACHED)
            .expireAfterWrite(KEPT)
            .executor(Runnable::run)
            .build();
    private final ConcurrentMap<UserId, Profile> waiting = new ConcurrentHashMap<>();
    private final AtomicBoolean taking = new AtomicBoolean();

    /** @param pool what requests use */
    public Profiles(Pool pool) {
        this.store = new ProfileStore(pool);
    }

    /**
     * The profiles of users who have something to show. Never fails: without an answer of Postgres, their ids are shown.
     *
     * @param users each may be there more than once
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

    /** A user's profile as it is stored now. */
    public Future<Profile.Stored> find(UserId user) {
        return store.find(Set.of(user)).map(found -> found.getOrDefault(user, new Profile.Stored(Profile.NONE, null)));
    }

    /** Says how a user is shown, whatever tokens say; an empty profile shows the id. Idempotent. */
    public Future<Void> put(UserId user, Profile profile) {
        return forgetting(user, store.put(user, profile));
    }

    /** Forgets what is stored; what the next token of the user says is taken. Idempotent. */
    public Future<Void> delete(UserId user) {
        return forgetting(user, store.delete(user));
    }

    private Future<Void> forgetting(UserId user, Future<Void> change) {
        waiting.remove(user);
        return change.onComplete(done -> known.invalidate(user));
    }

    /** A token was seen for the first time. Never blocks; what it says is stored with the next {@link #take}. */
    public void seen(UserId user, Profile said) {
        if (!said.isEmpty() && !said.equals(known.getIfPresent(user)) && waiting.size() < MAX_WAITING) {
            waiting.put(user, said);
        }
    }

    /** Stores what tokens have said; does nothing while the one before is under way. Called again and again. */
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
