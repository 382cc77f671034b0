package dev.hongbao.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The files of Postgres: creates them once, with the roles and the database inside, before any server listens. A cluster
 * under its name is complete: it is made under another one, synced and renamed.
 */
final class PostgresCluster {
    /** Superuser; for the launcher and for tests only. */
    static final String ADMIN = "postgres";

    /** Owns the database; migrations run as it. */
    static final String OWNER = "hongbao_owner";

    /** The role of the application. */
    static final String APP = "hongbao";

    static final String DATABASE = "hongbao";

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Path NO_INPUT = Path.of("/dev/null");

    private final DataDirectory data;
    private final Path programs;

    PostgresCluster(DataDirectory data, Path programs) {
        this.data = data;
        this.programs = programs;
    }

    /** The directory for {@code postgres -D}. Idempotent. */
    Path createOnce() {
        Path finished = data.path("postgres");
        if (Files.isDirectory(finished)) {
            return finished;
        }
        Path partial = data.path("postgres" + DataDirectory.PARTIAL + UUID.randomUUID());
        try {
            Files.createDirectory(partial);
            initdb(
                    partial,
                    "--username=" + ADMIN,
                    "--pwfile=" + data.secretFile("postgres-admin"),
                    "--auth=scram-sha-256",
                    "--encoding=UTF8",
                    "--locale=C",
                    "--locale-provider=builtin",
                    "--builtin-locale=C.UTF-8",
                    "--no-sync");
            Files.writeString(partial.resolve("pg_hba.conf"), "host all all 127.0.0.1/32 scram-sha-256\n");
            createRoles(partial);
            initdb(partial, "--sync-only");
            DataDirectory.publish(partial, finished);
            return finished;
        } catch (IOException e) {
            throw new EmbeddedStartException("cannot create the Postgres cluster " + finished + ": " + e, e);
        }
    }

    private void initdb(Path directory, String... options) {
        List<String> command = new ArrayList<>(command("initdb"));
        command.addAll(List.of("-D", directory.toString()));
        command.addAll(List.of(options));
        run("initdb", directory, NO_INPUT, command);
    }

    /** In single-user mode: nobody can connect meanwhile. It takes one statement a line. */
    private void createRoles(Path directory) throws IOException {
        String statements = String.join(
                "\n",
                "CREATE ROLE " + OWNER + " LOGIN PASSWORD '" + data.secret("postgres-owner") + "';",
                "CREATE ROLE " + APP + " LOGIN PASSWORD '" + data.secret("postgres-app") + "';",
                "CREATE DATABASE " + DATABASE + " OWNER " + OWNER + ";",
                "REVOKE ALL ON DATABASE " + DATABASE + " FROM PUBLIC;",
                "GRANT CONNECT ON DATABASE " + DATABASE + " TO " + APP + ";",
                "");
        Path file = data.path("secrets").resolve("roles.sql");
        DataDirectory.write(file, statements);
        List<String> command = new ArrayList<>(command("postgres"));
        command.addAll(List.of("--single", "-D", directory.toString()));
        for (String setting : List.of(
                "exit_on_error=on",
                "password_encryption=scram-sha-256",
                "scram_iterations=1", // the passwords are random bits: nobody guesses them, however fast
                "log_min_error_statement=panic")) {
            command.addAll(List.of("-c", setting));
        }
        command.add("postgres");
        run("postgres-single", directory, file, command);
        Files.delete(file);
    }

    /** Killed with this JVM: initdb would finish its step before it heeds a gentler signal. */
    private void run(String name, Path directory, Path input, List<String> command) {
        ChildProcess.start(name, directory, data.log("postgres"), "KILL", input, command)
                .awaitSuccess(LIMIT);
    }

    /**
     * Postgres refuses to be root. In a user namespace of its own it is somebody else and may still use root's files.
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
