package dev.hongbao.common.config;

import java.nio.file.Path;
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
    static @Nullable ListenTls of(@Nullable Path certificate, @Nullable Path key, @Nullable Path clientAuthority) {
        return certificate == null || key == null ? null : new ListenTls(certificate, key, clientAuthority);
    }
}
