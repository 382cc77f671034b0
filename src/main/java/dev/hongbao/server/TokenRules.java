package dev.hongbao.server;

import dev.hongbao.common.config.DataConfig;
import dev.hongbao.common.config.TokenConfig;
import dev.hongbao.web.access.TokenKey;
import dev.hongbao.web.access.TokenSettings;
import dev.hongbao.web.access.VerificationKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whose tokens are believed, as the configuration says. Blocks on the disk. */
public final class TokenRules {
    private TokenRules() {}

    /**
     * Reads the configured keys; with none configured, the data directory's key, which is made when missing.
     *
     * @throws IOException when a file cannot be read
     * @throws IllegalArgumentException when a file holds no key of the configured algorithm
     */
    public static TokenSettings read(TokenConfig token, DataConfig data) throws IOException {
        List<VerificationKey> keys = new ArrayList<>();
        if (token.algorithm().isSymmetric()) {
            keys.add(VerificationKey.hs256(secret(token, data)));
        } else {
            for (Path file : token.publicKeyFiles()) {
                keys.add(VerificationKey.pem(Files.readString(file)));
            }
            Path jwks = token.jwksFile();
            if (jwks != null) {
                keys.addAll(VerificationKey.jwks(Files.readString(jwks)));
            }
            keys.removeIf(
                    key -> !key.algorithm().name().equals(token.algorithm().name()));
            if (keys.isEmpty()) {
                throw new IllegalArgumentException(
                        "no key for token.algorithm " + token.algorithm() + " in the configured files");
            }
        }
        return new TokenSettings(
                keys, token.issuer(), token.audience(), Duration.ZERO, TokenSettings.DEFAULT_CACHE_BYTES);
    }

    /** The shared secret of HS256: the configured file's content, else the data directory's key. */
    public static byte[] secret(TokenConfig token, DataConfig data) throws IOException {
        @Nullable Path file = token.secretFile();
        return file == null ? TokenKey.loadOrCreate(data.tokenKeyFile()) : Files.readAllBytes(file);
    }
}
