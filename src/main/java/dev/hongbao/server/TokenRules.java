package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.config.SecretUrl;
import dev.hongbao.common.config.TokenConfig;
import dev.hongbao.web.access.JsonUrl;
import dev.hongbao.web.access.JwkSet;
import dev.hongbao.web.access.KeyRing;
import dev.hongbao.web.access.TokenKey;
import dev.hongbao.web.access.VerificationKey;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the keys of tokens from their configured sources. */
public final class TokenRules {
    private static final Duration URL_LIMIT = Duration.ofSeconds(10);

    private TokenRules() {}

    /**
     * Reads the configured keys. Without them it reads the data directory's key, and creates that if it is missing. Blocks on the disk, and up to
     * 10 s on the issuer.
     *
     * @throws IOException that names the option, if a source is unreadable or has no key of the configured algorithm
     */
    static KeyRing keys(TokenConfig token, HongbaoConfig.DataConfig data) throws IOException {
        List<KeyRing.Source> sources = new ArrayList<>();
        if (token.algorithm().isSymmetric()) {
            if (token.secrets().file() == null) {
                List<VerificationKey> own = List.of(VerificationKey.hs256(secret(token, data)));
                sources.add(new KeyRing.Source("data.dir", false, () -> own));
            }
            secretFiles(token)
                    .forEach((file, option) -> sources.add(new KeyRing.Source(option, false, () -> secretIn(file))));
        } else {
            publicKeys(token, sources);
        }
        return KeyRing.open(sources);
    }

    /** The files of HS256, each with its option. */
    static Map<Path, String> secretFiles(TokenConfig token) {
        Map<Path, String> files = new LinkedHashMap<>();
        Path first = token.secrets().file();
        if (first != null) {
            files.put(first, "token.secret-file");
        }
        token.secrets().furtherFiles().forEach(file -> files.putIfAbsent(file, "token.further-secret-files"));
        return files;
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

    private static List<VerificationKey> secretIn(Path file) throws IOException {
        for (Diagnosis finding : MachineChecks.checkSecret(file)) {
            if (finding.refuses()) {
                throw new IOException(finding.text());
            }
        }
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
}
