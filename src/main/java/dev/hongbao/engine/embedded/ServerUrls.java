package dev.hongbao.engine.embedded;

/**
 * Where the servers are and how to log in.
 *
 * @param redis {@code redis://:password@127.0.0.1:port}
 * @param postgresOwner {@code postgresql://hongbao_owner:…/hongbao}: owns the database, runs migrations
 * @param postgresApp {@code postgresql://hongbao:…/hongbao}: may connect; tables are granted to it by migrations
 * @param postgresAdmin {@code postgresql://postgres:…/postgres}: the superuser, for the launcher and for tests
 */
public record ServerUrls(String redis, String postgresOwner, String postgresApp, String postgresAdmin) {
    /** Without the passwords, so that it can be logged. */
    @Override
    public String toString() {
        return "ServerUrls[" + hide(redis) + ", " + hide(postgresOwner) + "]";
    }

    private static String hide(String url) {
        return url.replaceFirst("//.*@", "//");
    }
}
