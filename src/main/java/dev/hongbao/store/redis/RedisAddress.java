package dev.hongbao.store.redis;

import io.vertx.core.net.PemTrustOptions;
import io.vertx.redis.client.RedisOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The address of Redis, from {@code redis.url} and {@code redis.tls-authority}. It contains a password: never log the components.
 *
 * @param kind the relation of the hosts
 * @param scheme {@code redis}, or {@code rediss} for TLS
 * @param userInfo with its {@code @}; empty for none
 * @param hosts each with its port; at least one
 * @param path with its {@code /}: the number of the database, or the sentinels' name of the master; may be empty
 * @param authority the CA file (PEM) for the servers' certificates; empty for the JVM's trust store
 */
public record RedisAddress(
        Kind kind, String scheme, String userInfo, List<String> hosts, String path, String authority) {
    private static final Pattern URL = Pattern.compile(
            "(rediss?)(\\+cluster|\\+sentinel)?://([^\\s/?#@]*@)?([^\\s/?#@]+)(/[^\\s/?#]*)?(?:#(.+))?");

    private static final Pattern WITH_PORT = Pattern.compile(".*[^:\\]]:\\d+|\\[.*]:\\d+");

    public enum Kind {
        SERVER(6379),
        /** Some nodes of a Redis Cluster; they name the others. */
        CLUSTER(6379),
        /** Sentinels; they name the master. */
        SENTINEL(26_379);

        private final int defaultPort;

        Kind(int defaultPort) {
            this.defaultPort = defaultPort;
        }
    }

    public RedisAddress {
        hosts = List.copyOf(hosts);
        if (kind == Kind.SENTINEL && path.length() < 2) {
            throw new IllegalArgumentException("sentinels without the name of their master");
        }
    }

    /**
     * An address with its authority, in the form that {@link #parse} reads.
     *
     * @param authority null for the JVM's trust store
     */
    public static String withAuthority(String url, @Nullable Path authority) {
        return authority == null ? url : url + "#" + authority;
    }

    /**
     * Reads the option's value.
     *
     * @throws IllegalArgumentException for any other text; the message does not show it
     */
    public static RedisAddress parse(String url) {
        Matcher matcher = URL.matcher(url);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("not an address of Redis");
        }
        Kind kind = matcher.group(2) == null
                ? Kind.SERVER
                : Kind.valueOf(matcher.group(2).substring(1).toUpperCase(Locale.ROOT));
        return new RedisAddress(
                kind,
                matcher.group(1),
                orEmpty(matcher.group(3)),
                List.of(matcher.group(4).split(",")).stream()
                        .map(host -> WITH_PORT.matcher(host).matches() ? host : host + ":" + kind.defaultPort)
                        .toList(),
                orEmpty(matcher.group(5)),
                orEmpty(matcher.group(6)));
    }

    private static String orEmpty(@Nullable String group) {
        return group == null ? "" : group;
    }

    /** The client's options for a single server. */
    RedisOptions options() {
        return trusting(new RedisOptions().setConnectionString(scheme + "://" + userInfo + hosts.get(0) + path));
    }

    /**
     * The client's options for one of several servers, or for a sentinel.
     *
     * @param host with its port
     */
    RedisOptions optionsOf(String host) {
        return trusting(new RedisOptions().setConnectionString(scheme + "://" + userInfo + host));
    }

    private RedisOptions trusting(RedisOptions options) {
        if (!authority.isEmpty()) {
            options.getNetClientOptions().setTrustOptions(new PemTrustOptions().addCertPath(authority));
        }
        return options;
    }

    String masterName() {
        return path.substring(1);
    }

    @Override
    public String toString() {
        return kind + " " + hosts;
    }
}
