package dev.hongbao.common.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A listener's TLS. All files are PEM.
 *
 * @param certificate this server's, followed by its intermediate certificates
 * @param key the certificate's
 * @param clientAuthority the authority of the client certificates that the service role must show; null for no such rule
 */
public record ListenTls(
        Path certificate, Path key, @Nullable Path clientAuthority) {
    /** Null without TLS. {@link ConfigRules} requires both certificate and key, or neither. */
    static @Nullable ListenTls of(@Nullable Path certificate, @Nullable Path key, @Nullable Path clientAuthority) {
        return certificate == null || key == null ? null : new ListenTls(certificate, key, clientAuthority);
    }
}
