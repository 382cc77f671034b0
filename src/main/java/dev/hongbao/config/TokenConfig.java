package dev.hongbao.config;

import dev.hongbao.config.ConfigOption.Kind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The rules for valid tokens. */
public record TokenConfig(
        @ConfigOption(
                path = "token.algorithm",
                kind = Kind.AS_PRINTED,
                unset = "HS256",
                doc = "The only signature algorithm that tokens may have.")
        Algorithm algorithm,

        Secrets secrets,
        PublicKeys publicKeys,

        @ConfigOption(
                path = "token.refresh-interval",
                range = "1s … 1h",
                unset = "1m",
                fixed = true,
                doc = "The interval at which the key files and the key URL are read again: the longest wait for a"
                        + " new key.")
        Duration refreshInterval,

        Claims claims) {
    /** Claims that tokens must have; null takes any. */
    public record Claims(
            @ConfigOption(
                    path = "token.issuer",
                    kind = Kind.TEXT,
                    doc = "The iss that tokens must have; empty takes any.")
            @Nullable
            String issuer,

            @ConfigOption(
                    path = "token.audience",
                    kind = Kind.TEXT,
                    doc = "The aud that tokens must have; empty takes any.")
            @Nullable
            String audience,

            @ConfigOption(
                    path = "token.max-life",
                    range = "1m … 365d",
                    unset = "31d",
                    doc = "A token whose exp is further away is refused, so that a lost token cannot be used for ever.")
            Duration maxLife) {}

    /** Signature algorithms, named as in RFC 7518. */
    public enum Algorithm {
        HS256,
        RS256,
        ES256;

        /** Whether the verification key also signs. */
        public boolean isSymmetric() {
            return this == HS256;
        }
    }

    /** The secrets of HS256. The secret in {@code file} also signs. */
    public record Secrets(
            @ConfigOption(
                    path = "token.secret-file",
                    doc = "HS256: the file with the shared secret. Empty: token.key in data.dir, made at first use.")
            @Nullable
            Path file,

            @ConfigOption(
                    path = "token.further-secret-files",
                    doc = "HS256: files with further secrets whose tokens are valid, too: the next or the previous"
                            + " secret during a change.")
            List<Path> furtherFiles) {}

    /** The sources of public keys for RS256 and ES256. */
    public record PublicKeys(
            @ConfigOption(
                    path = "token.public-key-files",
                    doc = "RS256 and ES256: PEM files with the issuer's public keys.")
            List<Path> files,

            @ConfigOption(path = "token.jwks-file", doc = "RS256 and ES256: a JWKS file with the issuer's public keys.")
            @Nullable
            Path jwksFile,

            @ConfigOption(
                    path = "token.jwks-url",
                    kind = Kind.WEB_URL,
                    doc = "RS256 and ES256: the URL of the issuer's public keys as JWKS: at most 256 KiB, within 10 s,"
                            + " no redirect. A start needs it, unless files hold keys as well.")
            @Nullable
            SecretUrl jwksUrl) {}

    /** The files of HS256, each with its option. */
    public Map<Path, String> secretFiles() {
        Map<Path, String> files = new LinkedHashMap<>();
        Path first = secrets.file();
        if (first != null) {
            files.put(first, "token.secret-file");
        }
        secrets.furtherFiles().forEach(file -> files.putIfAbsent(file, "token.further-secret-files"));
        return files;
    }
}
