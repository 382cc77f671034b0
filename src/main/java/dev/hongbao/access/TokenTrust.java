package dev.hongbao.access;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.SecretUrl;
import dev.hongbao.config.WebConfig.TokenConfig;
import dev.hongbao.engine.Presence;
import dev.hongbao.values.Sha256;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of the tokens that this server accepts. It shows their fingerprints to the other servers of its database, at the start and when the keys
 * change.
 */
public final class TokenTrust implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TokenTrust.class);

    private static final Duration URL_LIMIT = Duration.ofSeconds(10);
    private static final int KEY_BYTES = 32;
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> OWNER_ONLY_DIRECTORY = PosixFilePermissions.fromString("rwx------");

    private final TokenConfig config;
    private final KeyRing keys;
    private final Tokens tokens;

    private TokenTrust(TokenConfig config, KeyRing keys, Tokens tokens) {
        this.config = config;
        this.keys = keys;
        this.tokens = tokens;
    }

    /** Looks at a file with a secret. */
    @FunctionalInterface
    public interface SecretCheck {
        /** @throws IOException if the file is no good for a secret */
        void require(Path file) throws IOException;
    }

    /** Reads the keys, see {@link #read}. Blocks. @param check of each file with a secret, at each reading */
    public static TokenTrust open(HongbaoConfig config, SecretCheck check, Clock clock) throws IOException {
        TokenConfig token = config.web().token();
        KeyRing keys = read(token, config.engine().tokenKeyFile(), check);
        Tokens.Settings settings = new Tokens.Settings(
                List.copyOf(keys.keys()),
                token.issuer(),
                token.audience(),
                token.maxLife(),
                Tokens.Settings.DEFAULT_CACHE_BYTES);
        return new TokenTrust(token, keys, new Tokens(settings, clock));
    }

    /**
     * Reads the configured keys. Without them it reads the data directory's key, and creates that if it is missing. Blocks on the disk, and up to
     * 10 s on the issuer.
     *
     * @throws IOException that names the option, if a source is unreadable or has no key of the configured algorithm
     */
    private static KeyRing read(TokenConfig token, Path ownFile, SecretCheck check) throws IOException {
        List<KeyRing.Source> sources = new ArrayList<>();
        if (token.algorithm().isSymmetric()) {
            if (token.secretFile() == null) {
                List<VerificationKey> own = List.of(VerificationKey.hs256(secret(token, ownFile)));
                sources.add(new KeyRing.Source("data.dir", false, () -> own));
            }
            token.secretFiles()
                    .forEach((file, option) ->
                            sources.add(new KeyRing.Source(option, false, () -> secretIn(file, check))));
        } else {
            publicKeys(token, sources);
        }
        return KeyRing.open(sources);
    }

    private static void publicKeys(TokenConfig token, List<KeyRing.Source> sources) {
        for (Path file : token.publicKeyFiles()) {
            sources.add(new KeyRing.Source(
                    "token.public-key-files: " + file,
                    false,
                    () -> ofAlgorithm(token, List.of(VerificationKey.pem(Files.readString(file))))));
        }
        Path file = token.jwksFile();
        if (file != null) {
            sources.add(new KeyRing.Source(
                    "token.jwks-file: " + file,
                    false,
                    () -> ofAlgorithm(token, VerificationKey.ofSet(Files.readString(file)))));
        }
        SecretUrl url = token.jwksUrl();
        if (url != null) {
            JsonUrl remote = new JsonUrl(URI.create(url.value()), URL_LIMIT);
            sources.add(new KeyRing.Source(
                    "token.jwks-url: " + url.redacted(),
                    true,
                    () -> ofAlgorithm(token, VerificationKey.ofSet(remote.read()))));
        }
    }

    private static List<VerificationKey> secretIn(Path file, SecretCheck check) throws IOException {
        check.require(file);
        return List.of(VerificationKey.hs256(Files.readAllBytes(file)));
    }

    private static List<VerificationKey> ofAlgorithm(TokenConfig token, List<VerificationKey> keys) {
        List<VerificationKey> fitting = keys.stream()
                .filter(key -> key.algorithm().equals(token.algorithm().name()))
                .toList();
        if (fitting.isEmpty()) {
            throw new IllegalArgumentException("no key for token.algorithm " + token.algorithm());
        }
        return fitting;
    }

    /**
     * The shared secret of HS256: the configured file's content, else the key in {@code own}, created if it is missing. Blocks on the disk.
     */
    public static byte[] secret(TokenConfig token, Path own) throws IOException {
        @Nullable Path file = token.secretFile();
        return file == null ? loadOrCreate(own) : Files.readAllBytes(file);
    }

    /**
     * The data directory's signing key: 32 random bytes in a file that only its owner may read, made when it is missing. When two processes start
     * at once, both get the same key. Blocks on the disk.
     *
     * @throws IOException when it cannot be read or written, has another length, or others may read it
     */
    static byte[] loadOrCreate(Path file) throws IOException {
        if (!Files.exists(file)) {
            create(file);
        }
        if (!OWNER_ONLY.containsAll(Files.getPosixFilePermissions(file))) {
            throw new IOException(
                    "others than its owner may use " + file + "; chmod 600 it, or delete it for a new key");
        }
        byte[] key = Files.readAllBytes(file);
        if (key.length != KEY_BYTES) {
            throw new IOException(file + " does not hold a key of 32 bytes; delete it for a new key");
        }
        return key;
    }

    /** Links a finished file to the name, so a partial key never appears; the link fails if the name is taken. */
    private static void create(Path file) throws IOException {
        byte[] key = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(key);
        Path directory = file.toAbsolutePath().getParent();
        if (directory == null) {
            throw new IOException(file + " is not a file's path");
        }
        if (!Files.isDirectory(directory)) {
            Files.createDirectories(directory, PosixFilePermissions.asFileAttribute(OWNER_ONLY_DIRECTORY));
        }
        Path draft =
                Files.createTempFile(directory, "token-key", ".new", PosixFilePermissions.asFileAttribute(OWNER_ONLY));
        try {
            Files.write(draft, key);
            Files.createLink(file, draft);
        } catch (FileAlreadyExistsException another) {
            // Another process was first; its key is the one.
        } finally {
            Files.deleteIfExists(draft);
        }
    }

    public Tokens tokens() {
        return tokens;
    }

    /** The fingerprints of the keys at the moment, salted with the name of the database. */
    public Set<Integer> fingerprints(String database) {
        return KeyRing.fingerprints(keys.keys(), database);
    }

    /** Follows changes of the files and the URL, and shows them to the other servers. Once. */
    public void follow(Presence presence, String database) {
        keys.watch(config.refreshInterval(), changed -> use(changed, presence, database));
    }

    private void use(Set<VerificationKey> changed, Presence presence, String database) {
        tokens.trust(changed);
        Set<Integer> own = KeyRing.fingerprints(changed, database);
        presence.change(own);
        LOG.info("the keys of tokens have changed; their fingerprint is {} now", text(own));
    }

    /** Ends {@link #follow}. Idempotent. */
    @Override
    public void close() {
        keys.close();
    }

    /** Sorted, so that an operator can compare two servers. */
    public static String text(Set<Integer> fingerprints) {
        return fingerprints.stream().map(Integer::toHexString).sorted().collect(Collectors.joining("+"));
    }

    /**
     * The keys of all sources, reread periodically, so that keys change without a restart. An unreadable source keeps its last keys,
     * and the log says so each time. So a key disappears when its source is read without it, not when the source is unreachable.
     *
     * <p>Reading blocks the caller of {@link #open}, and later a thread of this ring's own. Nimbus' JWKSource reads JWK sets only, and
     * asks the issuer on the caller's thread for an unknown {@code kid}.
     */
    static final class KeyRing implements AutoCloseable {
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
                    ring.lastGood.put(source, source.reader().call());
                } catch (Exception fault) {
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

        public synchronized Set<VerificationKey> keys() {
            return keys;
        }

        /**
         * Rereads all sources, {@code interval} after each reading ended, until {@link #close}. Call once.
         *
         * @param changed receives all keys after a change; called on the ring's thread
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
                    lastGood.put(source, source.reader().call());
                } catch (Exception fault) {
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
            return Objects.requireNonNullElse(
                    fault.getMessage(), fault.getClass().getSimpleName());
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
         * @param reader reads them anew, at least one; may block, and fails when the source is unreadable or holds no usable key
         */
        public record Source(String name, boolean isRemote, Callable<List<VerificationKey>> reader) {}
    }
}
