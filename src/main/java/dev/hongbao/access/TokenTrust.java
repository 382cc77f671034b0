package dev.hongbao.access;

import dev.hongbao.access.KeyRing.JwkSet;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.SecretUrl;
import dev.hongbao.config.TokenConfig;
import dev.hongbao.engine.Presence;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
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
        KeyRing keys = read(token, config.engine().data(), check);
        Tokens.Settings settings = new Tokens.Settings(
                List.copyOf(keys.keys()),
                token.claims().issuer(),
                token.claims().audience(),
                Duration.ZERO,
                token.claims().maxLife(),
                Tokens.Settings.DEFAULT_CACHE_BYTES);
        return new TokenTrust(token, keys, new Tokens(settings, clock));
    }

    /**
     * Reads the configured keys. Without them it reads the data directory's key, and creates that if it is missing. Blocks on the disk, and up to
     * 10 s on the issuer.
     *
     * @throws IOException that names the option, if a source is unreadable or has no key of the configured algorithm
     */
    private static KeyRing read(TokenConfig token, HongbaoConfig.DataConfig data, SecretCheck check)
            throws IOException {
        List<KeyRing.Source> sources = new ArrayList<>();
        if (token.algorithm().isSymmetric()) {
            if (token.secrets().file() == null) {
                List<VerificationKey> own = List.of(VerificationKey.hs256(secret(token, data)));
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
        for (Path file : token.publicKeys().files()) {
            sources.add(new KeyRing.Source(
                    "token.public-key-files: " + file,
                    false,
                    () -> ofAlgorithm(token, List.of(VerificationKey.pem(Files.readString(file))))));
        }
        Path file = token.publicKeys().jwksFile();
        if (file != null) {
            sources.add(new KeyRing.Source(
                    "token.jwks-file: " + file, false, () -> ofAlgorithm(token, JwkSet.read(Files.readString(file)))));
        }
        SecretUrl url = token.publicKeys().jwksUrl();
        if (url != null) {
            JsonUrl remote = new JsonUrl(URI.create(url.value()), URL_LIMIT);
            sources.add(new KeyRing.Source(
                    "token.jwks-url: " + url.redacted(), true, () -> ofAlgorithm(token, JwkSet.read(remote.read()))));
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
     * The shared secret of HS256: the configured file's content, else the data directory's key, created if it is missing. Blocks on the disk.
     */
    public static byte[] secret(TokenConfig token, HongbaoConfig.DataConfig data) throws IOException {
        @Nullable Path file = token.secrets().file();
        return file == null ? TokenKey.loadOrCreate(data.tokenKeyFile()) : Files.readAllBytes(file);
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

    /** The data directory's signing key: 32 random bytes in a file that only its owner may read. */
    static final class TokenKey {
        private static final int BYTES = 32;
        private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");
        private static final Set<PosixFilePermission> OWNER_ONLY_DIRECTORY =
                PosixFilePermissions.fromString("rwx------");

        private TokenKey() {}

        /**
         * Reads the key, or makes it when the file is missing. When two processes start at once, both get the same key. Blocks
         * on the disk.
         *
         * @throws IOException when it cannot be read or written, has another length, or others may read it
         */
        public static byte[] loadOrCreate(Path file) throws IOException {
            if (!Files.exists(file)) {
                create(file);
            }
            if (!OWNER_ONLY.containsAll(Files.getPosixFilePermissions(file))) {
                throw new IOException(
                        "others than its owner may use " + file + "; chmod 600 it, or delete it for a new key");
            }
            byte[] key = Files.readAllBytes(file);
            if (key.length != BYTES) {
                throw new IOException(file + " does not hold a key of 32 bytes; delete it for a new key");
            }
            return key;
        }

        /** Links a finished file to the name, so a partial key never appears; the link fails if the name is taken. */
        private static void create(Path file) throws IOException {
            byte[] key = new byte[BYTES];
            new SecureRandom().nextBytes(key);
            Path directory = file.toAbsolutePath().getParent();
            if (directory == null) {
                throw new IOException(file + " is not a file's path");
            }
            if (!Files.isDirectory(directory)) {
                Files.createDirectories(directory, PosixFilePermissions.asFileAttribute(OWNER_ONLY_DIRECTORY));
            }
            Path draft = Files.createTempFile(
                    directory, "token-key", ".new", PosixFilePermissions.asFileAttribute(OWNER_ONLY));
            try {
                Files.write(draft, key);
                Files.createLink(file, draft);
            } catch (FileAlreadyExistsException another) {
                // Another process was first; its key is the one.
            } finally {
                Files.deleteIfExists(draft);
            }
        }
    }
}
