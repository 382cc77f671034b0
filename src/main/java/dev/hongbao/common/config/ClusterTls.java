package dev.hongbao.common.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Mutual TLS of the messages between servers. All files are PEM.
 *
 * @param certificate of this server
 * @param key of the certificate, PKCS#8
 * @param authority whose certificates the other servers must show
 */
public record ClusterTls(Path certificate, Path key, Path authority) {
    /** Null when nothing of it is configured; {@link ConfigRules} wants all of it or nothing. */
    static @Nullable ClusterTls from(OptionValues values) {
        Path certificate = values.get(Options.CLUSTER_TLS_CERTIFICATE).orElse(null);
        Path key = values.get(Options.CLUSTER_TLS_KEY).orElse(null);
        Path authority = values.get(Options.CLUSTER_TLS_AUTHORITY).orElse(null);
        return certificate == null || key == null || authority == null
                ? null
                : new ClusterTls(certificate, key, authority);
    }
}
