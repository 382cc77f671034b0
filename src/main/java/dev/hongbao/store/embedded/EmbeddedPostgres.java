package dev.hongbao.store.embedded;

import com.sun.management.OperatingSystemMXBean;
import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.store.embedded.EmbeddedServers.Urls;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;

/**
 * A durable Postgres child process (fsync on, synchronous_commit on) on loopback, with passwords. Thread-safe; every method but
 * the getters may block.
 */
public final class EmbeddedPostgres extends EmbeddedServer {
    /** After a crash Postgres replays up to 2 GB of its log. A kill meanwhile makes it begin anew. */
    private static final Duration READY = Duration.ofMinutes(10);

    /** The default; a setting {@code max_connections} overrides it. */
    public static final int MAX_CONNECTIONS = 64;

    /** The line of postmaster.pid with the state, counted from 0; pg_ctl reads it, too. */
    private static final int STATUS_LINE = 7;

    private static final String PORT = "secrets/postgres-port";
    private static final String APP_SECRET = "postgres-app";
    private static final String OWNER_SECRET = "postgres-owner";

    private EmbeddedPostgres(DataDirectory data, boolean ownsData, int port, SupervisedChild child) {
        super(data, ownsData, port, child);
    }

    /**
     * Starts Postgres; returns when it accepts connections. The first start unpacks the binaries and creates the cluster, the
     * roles and the database. A later start on the same directory has the same data and passwords, and the same port if it is
     * still free.
     *
     * @throws EmbeddedServers.InUseException if another server owns the directory
     * @throws EmbeddedStartException if it cannot be started; the message shows the end of its log
     */
    public static EmbeddedPostgres start(Path dataDir, EmbeddedOptions options) {
        return owning(dataDir, data -> start(data, options, true));
    }

    /**
     * The {@link #urls} of the Postgres that a server keeps running on this directory; empty if there is none. Starts and makes
     * nothing. The server may be gone a moment later.
     */
    public static Optional<Urls> running(Path dataDir) {
        return running(dataDir, PORT, EmbeddedPostgres::urls);
    }

    static EmbeddedPostgres start(DataDirectory data, EmbeddedOptions options, boolean ownsData) {
        Path binaries = options.binaries() == null ? data.bin() : options.binaries();
        PostgresCluster cluster = PostgresCluster.createOnce(data, new Binaries(binaries, Platform.current()));
        Path directory = cluster.directory();
        Path portFile = data.path(PORT);
        int port = freePort(DataDirectory.readNumber(portFile));
        DataDirectory.write(portFile, Integer.toString(port));
        List<String> command = new ArrayList<>(cluster.command("postgres"));
        command.addAll(List.of("-D", directory.toString()));
        settings(port, options.postgresSettings()).forEach((name, value) -> {
            command.add("-c");
            command.add(name + "=" + value);
        });
        SupervisedChild child = SupervisedChild.start("postgres", options.supervised(), () -> {
            ChildProcess.awaitNoneIn(directory);
            // no process works here; but its pid may be another program's by now, and Postgres would believe it
            data.forget("postgres/postmaster.pid");
            ChildProcess started = ChildProcess.start(
                    "postgres", directory, data.log("postgres"), "INT", Path.of("/dev/null"), command);
            started.awaitReady(() -> isReady(directory, started.pid()), READY);
            return started;
        });
        return new EmbeddedPostgres(data, ownsData, port, child);
    }

    /** On the command line, so that clusters of an older version get them, too. */
    private static Map<String, String> settings(int port, Map<String, String> more) {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("listen_addresses", "127.0.0.1");
        settings.put("port", Integer.toString(port));
        settings.put("unix_socket_directories", "");
        settings.put("max_connections", Integer.toString(MAX_CONNECTIONS));
        settings.put("password_encryption", "scram-sha-256");
        settings.put("fsync", "on");
        settings.put("synchronous_commit", "on");
        settings.put("full_page_writes", "on");
        settings.put("shared_buffers", sharedMegabytes() + "MB");
        settings.put("wal_level", "minimal"); // no replicas here
        settings.put("max_wal_senders", "0");
        settings.put("max_wal_size", "2GB"); // checkpoints are the pauses of a settling server: make them rare
        settings.put("checkpoint_timeout", "15min");
        settings.put("log_checkpoints", "off");
        // Statements, their parameters and refused rows contain users' texts and money.
        settings.put("log_min_error_statement", "panic");
        settings.put("log_error_verbosity", "terse");
        settings.put("log_parameter_max_length", "0");
        settings.put("log_parameter_max_length_on_error", "0");
        settings.put("timezone", "UTC");
        settings.put("log_timezone", "UTC");
        settings.putAll(more);
        return settings;
    }

    /**
     * A sixteenth of the machine's memory, 128 MB to 1 GB; the system allocates only used pages. Hot pages should fit, above all
     * the last page of each wallet's records: 8 KB for each claiming user.
     */
    private static long sharedMegabytes() {
        long machine =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
        return Math.max(128, Math.min(1024, machine / 16 / (1 << 20)));
    }

    /** Reads the file that the postmaster writes for pg_ctl; a standby counts as ready. It costs no connection. */
    private static boolean isReady(Path directory, long pid) {
        try {
            List<String> lines = Files.readAllLines(directory.resolve("postmaster.pid"));
            return lines.size() > STATUS_LINE
                    && lines.get(0).strip().equals(Long.toString(pid))
                    && List.of("ready", "standby")
                            .contains(lines.get(STATUS_LINE).strip());
        } catch (IOException notYet) {
            return false;
        }
    }

    /** {@link #appUrl} and {@link #ownerUrl}. */
    public Urls urls() {
        return urls(data::secret, port);
    }

    private static Urls urls(UnaryOperator<String> secret, int port) {
        return new Urls(
                url(PostgresCluster.APP, secret.apply(APP_SECRET), PostgresCluster.DATABASE, port),
                url(PostgresCluster.OWNER, secret.apply(OWNER_SECRET), PostgresCluster.DATABASE, port));
    }

    /** For the database's owner, who runs the migrations: {@code postgresql://hongbao_owner:password@127.0.0.1:port/hongbao}. */
    public String ownerUrl() {
        return urls().owner();
    }

    /** For the application's role: {@code postgresql://hongbao:password@127.0.0.1:port/hongbao}. */
    public String appUrl() {
        return urls().app();
    }

    /** For the superuser: {@code postgresql://postgres:password@127.0.0.1:port/postgres}. */
    public String adminUrl() {
        return url(PostgresCluster.ADMIN, data.secret("postgres-admin"), "postgres", port);
    }

    private static String url(String role, String password, String database, int port) {
        return "postgresql://" + role + ":" + password + "@127.0.0.1:" + port + "/" + database;
    }

    /**
     * The files of Postgres. {@code initdb} creates them once, and the roles and the database follow before any server listens. They
     * are made under another name, synced and renamed, so a cluster with the final name is complete.
     */
    private static final class PostgresCluster {
        /** Superuser; for the launcher and for tests only. */
        static final String ADMIN = "postgres";

        /** The owner of the database, who runs the migrations. */
        static final String OWNER = "hongbao_owner";

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
                throw new EmbeddedStartException(
                        "cannot create the Postgres cluster " + cluster.directory + ": " + e, e);
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
                    "CREATE ROLE " + OWNER + " LOGIN PASSWORD '" + data.secret(OWNER_SECRET) + "';",
                    "CREATE ROLE " + APP + " LOGIN PASSWORD '" + data.secret(APP_SECRET) + "';",
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
}
