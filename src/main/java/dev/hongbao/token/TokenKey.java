package dev.hongbao.token;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;

/** PLACEHOLDER of the command line's branch: the token package's own class replaces this file on merge. */
public final class TokenKey {
    private final byte[] secret;

    private TokenKey(byte[] secret) {
        this.secret = secret;
    }

    /** The key in the file, made when the file is missing. */
    public static TokenKey loadOrCreate(Path keyFile) throws IOException {
        if (!Files.exists(keyFile)) {
            byte[] secret = new byte[32];
            new SecureRandom().nextBytes(secret);
            Files.createDirectories(keyFile.toAbsolutePath().getParent());
            Files.write(keyFile, secret);
        }
        return load(keyFile);
    }

    /** The key in the file, which must exist. */
    public static TokenKey load(Path keyFile) throws IOException {
        return new TokenKey(Files.readAllBytes(keyFile));
    }

    byte[] secret() {
        return secret.clone();
    }
}
