package dev.hongbao.store.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The files of Postgres. {@code initdb} creates them once, and the roles and the database follow before any server listens. They
 * are made under another name, synced and renamed, so a cluster with the final name is complete.
 */
final class PostgresCluster {
    /** Superuser; for the launcher and for tests only. */
    static final String ADMIN = "postgres";

    /** The owner of the database, who runs the migrations. */
    static final String OWNER = "hongbao_owner";

    /** The role of the application. */
    static final String APP = "hongbao";

    static final String DATABASE = "hongbao";

    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** The beginning of an error message of {@code unshare}. */
    private static final String NO_NAMESPACE = "unshare: ";

    private static final Path NO_INPUT = Path.of("/dev/null");

    private final DataDirectory data;
    private final Path directory;
    private final Path programs;

    private PostgresCluster(DataDirectory data, Path programs) {
        this.data = data;
        this.directory = data.path("postgres");
        this.programs = programs;
    }

    /** The cluster of the data directory; made if it is missing. Idempotent. */
    static PostgresCluster createOnce(DataDirectory data, Binaries binaries) {
        PostgresCluster cluster = new PostgresCluster(data, binaries.postgres());
        if (Files.isDirectory(cluster.directory)) {
            return cluster;
        }
        try {
            cluster.create(data.directory("postgres" + DataDirectory.PARTIAL + UUID.randomUUID()));
            return cluster;
        } catch (IOException e) {
            throw new EmbeddedStartException("cannot create the Postgres cluster " + cluster.directory + ": " + e, e);
        }
    }

    /** For {@code postgres -D}. */
    Path directory() {
        return directory;
    }

    private void create(Path partial) throws IOException {
        initdb(
                partial,
                "--username=" + ADMIN,
                "--auth=reject",
                "--encoding=UTF8",
                "--locale=C",
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                "--data-checksums",
                "--no-sync");
        Files.writeString(partial.resolve("pg_hba.conf"), "host all all 127.0.0.1/32 scram-sha-256\n");
        inSingleUserMode(partial, rolesAndDatabase());
        initdb(partial, "--sync-only");
        DataDirectory.publish(partial, directory);
    }

    private List<String> rolesAndDatabase() {
        return List.of(
                "ALTER ROLE " + ADMIN + " PASSWORD '" + data.secret("postgres-admin") + "';",
                "CREATE ROLE " + OWNER + " LOGIN PASSWORD '" + data.secret("postgres-owner") + "';",
                "CREATE ROLE " + APP + " LOGIN PASSWORD '" + data.secret("postgres-app") + "';",
                "CREATE DATABASE " + DATABASE + " OWNER " + OWNER + ";",
                "REVOKE ALL ON DATABASE " + DATABASE + " FROM PUBLIC;",
                "GRANT CONNECT ON DATABASE " + DATABASE + " TO " + APP + ";");
    }

    private void initdb(Path directory, String... options) {
        List<String> command = new ArrayList<>(command("initdb"));
        command.addAll(List.of("-D", directory.toString()));
        command.addAll(List.of(options));
        run("initdb", directory, NO_INPUT, command);
    }

    /** No client can connect in this mode. It reads one statement a line. */
    private void inSingleUserMode(Path directory, List<String> statements) throws IOException {
        Path file = data.path("secrets").resolve("roles.sql");
        DataDirectory.write(file, String.join("\n", statements) + "\n");
        List<String> command = new ArrayList<>(command("postgres"));
        command.addAll(List.of("--single", "-D", directory.toString()));
        for (String setting : List.of(
                "exit_on_error=on",
                "fsync=off", // all is synced at the end
                "password_encryption=scram-sha-256",
                "scram_iterations=1", // the passwords are random bits; slow hashing protects only guessable ones
                "log_min_error_statement=panic",
                "log_error_verbosity=terse")) {
            command.addAll(List.of("-c", setting));
        }
        command.add("postgres");
        run("postgres-single", directory, file, command);
        Files.delete(file);
    }

    /** KILL on the death of this JVM: initdb would finish its step before it heeds a gentler signal. */
    private void run(String name, Path directory, Path input, List<String> command) {
        try {
            ChildProcess.start(name, directory, data.log("postgres"), "KILL", input, command)
                    .awaitSuccess(LIMIT);
        } catch (EmbeddedStartException e) {
            throw String.valueOf(e.getMessage()).contains(NO_NAMESPACE)
                    ? new EmbeddedStartException(
                            e.getMessage()
                                    + "\n"
                                    + "Postgres refuses to run as root, and this machine allows no user namespace in"
                                    + " which it would be another user, as most containers do. Start Hongbao as"
                                    + " another user, or set HONGBAO_REDIS_URL and HONGBAO_POSTGRES_URL to servers of"
                                    + " your own.",
                            e)
                    : e;
        }
    }

    /**
     * Postgres refuses to run as root. In a user namespace of its own it is another user and may still use root's files.
     *
     * @return the command without options
     */
    List<String> command(String program) {
        String path = programs.resolve("bin").resolve(program).toString();
        return isRoot() ? List.of("unshare", "-U", path) : List.of(path);
    }

    private static boolean isRoot() {
        try {
            return Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        } catch (IOException | UnsupportedOperationException e) {
            return "root".equals(System.getProperty("user.name"));
        }
    }
}
