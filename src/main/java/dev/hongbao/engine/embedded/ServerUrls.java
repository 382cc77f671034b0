package dev.hongbao.engine.embedded;

/**
 * The addresses and logins of the servers.
 *
 * @param redis {@code redis://hongbao:password@127.0.0.1:port}: the commands that the server needs
 * @param redisAdmin {@code redis://:password@127.0.0.1:port}: all commands, for tests and benchmarks
 * @param postgresOwner {@code postgresql://hongbao_owner:…/hongbao}: owns the database, runs migrations
 * @param postgresApp {@code postgresql://hongbao:…/hongbao}: may connect; migrations grant it the tables
 * @param postgresAdmin {@code postgresql://postgres:…/postgres}: the superuser, for the launcher and for tests
 */
public record ServerUrls(
        String redis, String redisAdmin, String postgresOwner, String postgresApp, String postgresAdmin) {
    /** Without the passwords: safe to log. */
    @Override
    public String toString() {
        return "ServerUrls[" + hide(redis) + ", " + hide(postgresOwner) + "]";
    }

    private static String hide(String url) {
        return url.replaceFirst("//.*@", "//");
    }
}
