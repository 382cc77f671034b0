package dev.hongbao.access;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.jwk.KeyType;
import com.nimbusds.jose.jwk.KeyUse;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Sha256;
import dev.hongbao.values.StrictJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.text.ParseException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of all sources, reread periodically, so that keys change without a restart. An unreadable source keeps its last keys,
 * and the log says so each time. So a key disappears when its source is read without it, not when the source is unreachable.
 *
 * <p>Reading blocks the caller of {@link #open}, and later a thread of this ring's own. Nimbus' JWKSource reads JWK sets only, and
 * asks the issuer on the caller's thread for an unknown {@code kid}.
 */
final class KeyRing implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KeyRing.class);

    private final List<Source> sources;
    private final Map<Source, List<VerificationKey>> lastGood = new HashMap<>();
    private Set<VerificationKey> keys = Set.of();
    private @Nullable ScheduledExecutorService watcher;

    private KeyRing(List<Source> sources) {
        this.sources = List.copyOf(sources);
    }

    /**
     * Reads all sources once. A remote source may be unreachable if another source has keys: the server starts without its keys
     * and retries later. Without any key the server does not start, because it would refuse every valid token.
     *
     * @throws IOException that names the source, when another source cannot be read, or none has a key
     */
    public static KeyRing open(List<Source> sources) throws IOException {
        KeyRing ring = new KeyRing(sources);
        List<IOException> away = new ArrayList<>();
        for (Source source : ring.sources) {
            try {
                ring.lastGood.put(source, source.reader().read());
            } catch (IOException | RuntimeException fault) {
                IOException named = new IOException(source.name() + ": " + text(fault), fault);
                if (!source.isRemote()) {
                    throw named;
                }
                away.add(named);
            }
        }
        ring.keys = ring.all();
        if (ring.keys.isEmpty() && !away.isEmpty()) {
            throw away.get(0);
        }
        away.forEach(fault -> LOG.warn("{}; starts without its keys", fault.getMessage()));
        return ring;
    }

    private Set<VerificationKey> all() {
        Set<VerificationKey> all = new LinkedHashSet<>();
        for (Source source : sources) {
            all.addAll(lastGood.getOrDefault(source, List.of()));
        }
        return Set.copyOf(all);
    }

    /** All keys of the last readings. */
    public synchronized Set<VerificationKey> keys() {
        return keys;
    }

    /**
     * Rereads all sources, {@code interval} after each reading ended, until {@link #close}. Call once.
     * @param changed receives
     * all keys after a change; called on the ring's thread
     */
    public synchronized void watch(Duration interval, Consumer<Set<VerificationKey>> changed) {
        ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
            Thread made = new Thread(work, "hongbao-token-keys");
            made.setDaemon(true);
            return made;
        });
        watcher = thread;
        var unused = thread.scheduleWithFixedDelay(
                () -> refresh(changed), interval.toMillis(), interval.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Reads all sources once more. */
    void refresh(Consumer<Set<VerificationKey>> changed) {
        for (Source source : sources) {
            try {
                lastGood.put(source, source.reader().read());
            } catch (IOException | RuntimeException fault) {
                LOG.warn("{}: {}; the keys it had last stay", source.name(), text(fault));
            }
        }
        Set<VerificationKey> now = all();
        synchronized (this) {
            if (now.equals(keys)) {
                return;
            }
            keys = now;
        }
        try {
            changed.accept(now);
        } catch (RuntimeException fault) {
            LOG.error("the new token keys are not in use everywhere", fault);
        }
    }

    private static String text(Exception fault) {
        return Objects.requireNonNullElse(fault.getMessage(), fault.getClass().getSimpleName());
    }

    /**
     * Fingerprints of keys, independent of their order and ids: one number per key, by which servers of one database check that they
     * accept the same tokens. It is 32 bits of a salted hash, far too few to find the key.
     *
     * @param salt of the database
     */
    public static Set<Integer> fingerprints(Collection<VerificationKey> keys, String salt) {
        return keys.stream().map(key -> fingerprint(key, salt)).collect(Collectors.toUnmodifiableSet());
    }

    private static int fingerprint(VerificationKey key, String salt) {
        MessageDigest digest = Sha256.begin();
        digest.update(("hongbao token key of " + salt).getBytes(StandardCharsets.UTF_8));
        digest.update((byte) 0);
        return ByteBuffer.wrap(digest.digest(key.encoded())).getInt();
    }

    /** Stops reading; does not wait for a reading in progress. */
    @Override
    public synchronized void close() {
        if (watcher != null) {
            watcher.shutdownNow();
        }
    }

    /**
     * A source of verification keys.
     *
     * @param name the option and the place, for the operator; without secrets
     * @param isRemote whether another machine serves them, which may be unreachable when this server starts
     * @param reader reads them
     */
    public record Source(String name, boolean isRemote, Reader reader) {
        /** Reads all keys of the source anew. May block. */
        public interface Reader {
            /**
             * At least one key.
             *
             * @throws IOException when the source cannot be read
             * @throws IllegalArgumentException when it holds no key that can be used
             */
            List<VerificationKey> read() throws IOException;
        }
    }

    /** Reads JWK sets (RFC 7517). Stateless. */
    static final class JwkSet {
        /** A forged token without a key id is tried with every key: 20 RSA keys cost about a millisecond. */
        private static final int MAX_KEYS = 20;

        private static final JWKMatcher RSA =
                verifying(KeyType.RSA, JWSAlgorithm.RS256).build();

        private static final JWKMatcher EC =
                verifying(KeyType.EC, JWSAlgorithm.ES256).curve(Curve.P_256).build();

        private JwkSet() {}

        /**
         * The keys of a set that verify RS256 or ES256 signatures. Ignores other keys, as RFC 7517, 5 requires: keys for another use,
         * malformed and weak keys, and secrets.
         *
         * @throws IllegalArgumentException when the text is no JWK set, or holds no such key, or more than 20
         */
        public static List<VerificationKey> read(String json) {
            List<VerificationKey> keys = new ArrayList<>();
            String whyNone = "";
            try {
                JsonArray set = StrictJson.FOREIGN.decode(json).getJsonArray("keys", new JsonArray());
                for (int i = 0; i < set.size(); i++) {
                    JsonObject entry = set.getJsonObject(i);
                    try {
                        VerificationKey key = key(JWK.parse(entry.encode()));
                        if (key != null) {
                            keys.add(key);
                        }
                    } catch (ParseException | JOSEException | IllegalArgumentException unusable) {
                        whyNone = ": " + unusable.getMessage();
                    }
                }
            } catch (InvalidInputException | ClassCastException malformed) {
                throw new IllegalArgumentException("not a JWK set: " + malformed.getMessage(), malformed);
            }
            if (keys.isEmpty()) {
                throw new IllegalArgumentException("the JWK set holds no key for RS256 or ES256" + whyNone);
            }
            if (keys.size() > MAX_KEYS) {
                throw new IllegalArgumentException("the JWK set holds more than " + MAX_KEYS + " keys");
            }
            return List.copyOf(keys);
        }

        private static JWKMatcher.Builder verifying(KeyType type, JWSAlgorithm algorithm) {
            return new JWKMatcher.Builder()
                    .keyType(type)
                    .algorithms(algorithm, null)
                    .keyUses(KeyUse.SIGNATURE, null)
                    .keyOperations(KeyOperation.VERIFY, null)
                    .nonRevokedOnly(true);
        }

        private static @Nullable VerificationKey key(JWK jwk) throws JOSEException {
            if (RSA.matches(jwk)) {
                return VerificationKey.rs256(jwk.toRSAKey().toRSAPublicKey(), jwk.getKeyID());
            }
            return EC.matches(jwk) ? VerificationKey.es256(jwk.toECKey().toECPublicKey(), jwk.getKeyID()) : null;
        }
    }
}
