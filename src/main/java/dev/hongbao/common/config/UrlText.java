package dev.hongbao.common.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.regex.Pattern;

/** The URLs that the clients of Redis, of Postgres and of the web understand. Pure. */
final class UrlText {
    private static final int MAX_PORT = 65_535;
    private static final String REDIS_USER = "://([^\\s/?#@]*@)?";
    private static final String REDIS_HOST = "([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:.]+])(:\\d{1,5})?";
    private static final String REDIS_HOSTS = REDIS_HOST + "(," + REDIS_HOST + "){0,31}";
    private static final Pattern REDIS =
            Pattern.compile("rediss?(" + REDIS_USER + REDIS_HOST + "(/\\d{0,3})?|\\+cluster" + REDIS_USER + REDIS_HOSTS
                    + "/?|\\+sentinel" + REDIS_USER + REDIS_HOSTS + "/[A-Za-z0-9._-]{1,64})");
    // As strict as the client that reads it: other characters must be percent-encoded.
    private static final Pattern POSTGRES = Pattern.compile("postgres(ql)?://[\\w\\-.~%!*]+(:[\\w\\-.~%!*]+)?@"
            + "([A-Za-z0-9._%~-]+|\\[[0-9A-Fa-f:]+])(:\\d{1,5})?/[\\w\\-.~%!*]+(\\?\\S*)?");
    private static final Pattern SSL_MODE = Pattern.compile("[?&]sslmode=([^&]*)");
    /** Parameters that repeat a part of the URL: only some clients read them. */
    private static final Pattern SAID_TWICE =
            Pattern.compile("[?&](?i:host|hostaddr|port|user|password|dbname|options)=");

    private static final Pattern SCHEMA = Pattern.compile("[?&](?:search_path|currentSchema)=([^&]*)");
    private static final Pattern SCHEMA_NAME = Pattern.compile("[a-z_][a-z0-9_]{0,62}");
    static final List<String> SSL_MODES = List.of("disable", "allow", "prefer", "require", "verify-ca", "verify-full");

    private UrlText() {}

    /** Of one server, of nodes of a cluster, or of the sentinels of a master. */
    static boolean isRedis(String text) {
        return REDIS.matcher(text).matches();
    }

    static boolean isPostgres(String text) {
        return POSTGRES.matcher(text).matches()
                && SSL_MODE.matcher(text).results().allMatch(match -> SSL_MODES.contains(match.group(1)))
                && !SAID_TWICE.matcher(text).find()
                && SCHEMA.matcher(text).results().count() <= 1
                && SCHEMA.matcher(text)
                        .results()
                        .allMatch(match -> SCHEMA_NAME.matcher(match.group(1)).matches());
    }

    /** With http or https, and no user. */
    static boolean isWeb(String text) {
        try {
            URI url = new URI(text);
            return ("https".equals(url.getScheme()) || "http".equals(url.getScheme()))
                    && url.getHost() != null
                    && url.getUserInfo() == null
                    && url.getFragment() == null
                    && url.getPort() <= MAX_PORT;
        } catch (URISyntaxException none) {
            return false;
        }
    }
}
