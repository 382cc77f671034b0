package dev.hongbao.engine.embedded;

/**
 * Where the servers are and how to log in.
 *
 * @param redis {@code redis://hongbao:password@127.0.0.1:port}: may call what the server needs
 * @param redisAdmin {@code redis://:password@127.0.0.1:port}: may do all, for tests and for measuring
 * @param postgresOwner {@code postgresql://hongbao_owner:…/hongbao}: owns the database, runs migrations
 * @param postgresApp {@code postgresql://hongbao:…/hongbao}: may connect; tables are granted to it by migrations
 * @param postgresAdmin {@code postgresql://postgres:…/postgres}: the superuser, for the launcher and for tests
 */
public record ServerUrls(
        String redis, String redisAdmin, String postgresOwner, String postgresApp, String postgresAdmin) {
    /** Without the passwords, so that it can be logged. */
    @Override
    public String toString() {
        return "ServerUrls[" + hide(redis) + ", " + hide(postgresOwner) + "]";
    }

    private static String hide(String url) {
        return url.replaceFirst("//.*@", "//");
    }
}
