package dev.hongbao.common.config;

import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A listener's TLS. All files are PEM.
 *
 * @param certificate of this server, followed by its intermediate certificates
 * @param key of the certificate
 * @param clientAuthority whose certificates a caller of the service role must show; null for no such rule
 */
public record ListenTls(
        Path certificate, Path key, @Nullable Path clientAuthority) {
    /** Null when nothing of it is configured; {@link ConfigRules} wants certificate and key or neither. */
    static @Nullable ListenTls of(Optional<Path> certificate, Optional<Path> key, Optional<Path> clientAuthority) {
        return certificate.isPresent() && key.isPresent()
                ? new ListenTls(certificate.get(), key.get(), clientAuthority.orElse(null))
                : null;
    }
}
