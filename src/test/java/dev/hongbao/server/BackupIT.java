package dev.hongbao.server;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.embedded.EmbeddedPostgres;
import dev.hongbao.store.embedded.EmbeddedServers.EmbeddedOptions;
import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.testing.GuideCommands;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** The guide's page on backups, by its own commands: what is kept and what is lost, on the Redis that was there. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class BackupIT {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Map<String, String> OPTIONS = Map.of("shards", "2");

    private final TestServers redis = Servers.fresh();
    private final Logger recovery = (Logger) LoggerFactory.getLogger("dev.hongbao.engine.Recovery");
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private Path root;
    private GuideCommands guide;
    private EmbeddedPostgres primary;
    private Packet packet;

    /** Two of eight shares are claimed; then the database is backed up. */
    @BeforeAll
    void backUp(@TempDir Path given) throws Exception {
        root = given;
        log.start();
        recovery.addAppender(log);
        Path backup = Files.createDirectory(root.resolve("backup"));
        Files.createDirectory(backup.resolve("log"));
        guide = GuideCommands.of("backup")
                .where("/backup/", backup + "/")
                .where("/var/lib/postgresql/data", files("primary"));
        for (String other : List.of("restored", "replica")) {
            guide.where("/var/lib/postgresql/" + other, files(other));
        }
        primary = postgres("primary", guide.settings("Keep the log"));
        try (TestEngine engine = engine(primary)) {
            engine.deposit("alice", 10_000);
            packet = engine.send("alice", 800, 8);
            assertClaims(engine, "u1", "u2");
            try (Connection session = session(primary)) {
                guide.follow("Back up", session);
            }
        }
    }

    @AfterAll
    void stop() {
        recovery.detachAppender(log);
        primary.close();
        redis.close();
    }

    /** Where the commands find the files of a Postgres. */
    private Path files(String name) {
        return root.resolve(name).resolve("postgres");
    }

    private EmbeddedPostgres postgres(String name, Map<String, String> settings) {
        return EmbeddedPostgres.start(
                root.resolve(name),
                EmbeddedOptions.defaults()
                        .withSupervised(false)
                        .withBinaries(TestServers.BINARIES)
                        .withPostgresSettings(settings));
    }

    /** Room for files that a backup will be copied to, with the passwords that the backup's roles have. */
    private void prepare(String name) throws Exception {
        Path secrets = Files.createDirectories(root.resolve(name).resolve("secrets"));
        try (Stream<Path> known = Files.list(root.resolve("primary/secrets"))) {
            for (Path secret : known.toList()) {
                Files.copy(secret, secrets.resolve(secret.getFileName()));
            }
        }
    }

    private EmbeddedPostgres follow(String name) throws Exception {
        return postgres(name, Map.of("wal_level", "replica", "max_wal_senders", "10"));
    }

    private static Connection session(EmbeddedPostgres postgres) throws SQLException {
        return TestDatabase.connect(postgres.adminUrl());
    }

    private StoreAddresses stores(EmbeddedPostgres postgres) {
        return new StoreAddresses(
                redis.redisUrl(), PostgresAddress.of(postgres.ownerUrl()), PostgresAddress.of(postgres.appUrl()));
    }

    private TestEngine engine(EmbeddedPostgres postgres) {
        return TestEngine.start(stores(postgres), 1, OPTIONS);
    }

    private void assertClaims(TestEngine engine, String... users) {
        for (String user : users) {
            eventually(SOON, () -> assertThat(engine.claim(packet, user).kind()).isEqualTo(Kind.CLAIMED));
        }
    }

    private void assertHas(TestEngine engine, String... users) {
        for (String user : users) {
            eventually(SOON, () -> assertThat(engine.claim(packet, user).kind()).isEqualTo(Kind.ALREADY_CLAIMED));
        }
    }

    private void assertDrainedAndReconciled(TestEngine engine, EmbeddedPostgres postgres) throws Exception {
        assertThat(engine.claim(packet, "late").kind()).isEqualTo(Kind.DRAINED);
        assertThat(List.of("u1", "u2", "u3", "u4", "u5", "u6", "u7", "u8").stream()
                        .mapToLong(engine::balance)
                        .sum())
                .isEqualTo(800);
        assertThat(Operations.reconcile(stores(postgres), found -> {})).allMatch(Finding::isClean);
    }

    private static String one(Connection session, String sql) throws SQLException {
        try (Statement statement = session.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    @Test
    @Order(1)
    void aRestoreKeepsWhatWasSettledBeforeTheMoment() throws Exception {
        // Given claims before a moment, and after it
        Packet lost;
        try (TestEngine engine = engine(primary);
                Connection session = session(primary)) {
            assertClaims(engine, "u3");
            guide.where("2026-11-22 14:00:00+00", one(session, "select now()"));
            assertClaims(engine, "u4", "u5");
            lost = engine.send("alice", 100, 1);
        }
        primary.close();

        // When
        prepare("restored");
        guide.follow("Go back to a moment", null);
        try (EmbeddedPostgres restored = follow("restored");
                Connection session = session(restored)) {
            eventually(
                    SOON,
                    () -> assertThat(one(session, "select pg_is_in_recovery()")).isEqualTo("f"));

            // Then
            try (TestEngine engine = engine(restored)) {
                assertHas(engine, "u1", "u2", "u3");
                assertClaims(engine, "u4", "u5", "u6", "u7", "u8");
                assertThat(engine.claim(lost, "u1").kind()).isEqualTo(Kind.NOT_FOUND);
                assertThat(engine.balance("alice")).isEqualTo(10_000 - 800);
                assertDrainedAndReconciled(engine, restored);

                // And the log says what the page quotes
                assertThat(log.list)
                        .extracting(ILoggingEvent::getFormattedMessage)
                        .anyMatch(line -> line.contains("went back in time"));
            }
        }
    }

    /** The primary that was left for the backup is in use again: it has five claims. */
    @Test
    @Order(2)
    void aReplicaThatIsWaitedForLosesNothing() throws Exception {
        // Given
        primary = postgres("primary", guide.settings("Keep the log"));
        guide.where("host=postgres-1 port=5432", "host=127.0.0.1 port=" + primary.port());
        prepare("replica");
        try (Connection session = session(primary)) {
            guide.follow("Follow with a replica", session);
        }
        try (EmbeddedPostgres replica = follow("replica")) {
            try (TestEngine engine = engine(primary);
                    Connection session = session(primary)) {
                guide.follow("Wait for the replica", session);
                eventually(
                        SOON,
                        () -> assertThat(one(session, "select sync_state from pg_stat_replication"))
                                .isEqualTo("sync"));
                assertHas(engine, "u1", "u2", "u3", "u4", "u5");
                assertClaims(engine, "u6", "u7");

                // When
                primary.kill();
            }
            try (Connection session = session(replica)) {
                guide.follow("Fail over", session);
            }

            // Then
            try (TestEngine engine = engine(replica)) {
                assertHas(engine, "u1", "u2", "u3", "u4", "u5", "u6", "u7");
                assertClaims(engine, "u8");
                assertDrainedAndReconciled(engine, replica);
            }
        }
    }
}
