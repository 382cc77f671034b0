package dev.hongbao.tools.chaos.bed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.hongbao.testing.Eventually;
import dev.hongbao.tools.local.Jdbc;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The faults of Postgres have their effects. */
class PostgresSideIT {
    private static final Path BINARIES =
            Path.of("target", "test-servers", "bin").toAbsolutePath();
    private static final Duration SOON = Duration.ofSeconds(20);

    @TempDir
    private Path directory;

    private PostgresSide postgres;

    @BeforeEach
    void start() throws Exception {
        postgres = new PostgresSide(directory.resolve("postgres"), BINARIES);
        execute("create table fact (n bigint primary key, text text)");
    }

    @AfterEach
    void stop() throws IOException {
        postgres.close();
    }

    private void execute(String sql) throws SQLException {
        Jdbc.execute(postgres.admin(), sql);
    }

    private List<List<String>> facts() throws SQLException {
        return postgres.rows("select n from fact where text is null order by n");
    }

    @Test
    void aFullDiskRefusesWhatTakesRoomAndLosesNothing() throws Exception {
        assumeTrue(PostgresNode.isFillable(), "this process may mount no disk");
        // Given
        execute("insert into fact values (1)");

        // When
        postgres.primary().fillDisk();

        // Then
        assertThatThrownBy(() ->
                        execute("insert into fact select n, repeat(n::text, 100) from generate_series(2, 100000) as n"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("No space left on device");
        postgres.primary().freeDisk();
        execute("insert into fact values (2)");
        assertThat(facts()).containsExactly(List.of("1"), List.of("2"));
    }

    @Test
    void aLaggingReplicaIsPromotedAndShutDownImmediately() throws Exception {
        // Given
        execute("insert into fact values (1)");
        postgres.limitConnections(0);
        postgres.limitConnections(-1);
        assertThat(postgres.holdReplicaBack()).isTrue();
        execute("insert into fact values (2)");
        int before = postgres.port();

        // When
        postgres.promote();

        // Then
        assertThat(postgres.port()).isNotEqualTo(before);
        assertThat(facts()).containsExactly(List.of("1"));
        assertThat(postgres.rows("select rolname from pg_roles where rolconnlimit = 0"))
                .isEmpty();
        execute("insert into fact values (3)");

        // When
        postgres.replaceReplica();
        assertThat(postgres.holdReplicaBack()).isTrue();
        postgres.promote();

        // Then
        assertThat(facts()).containsExactly(List.of("1"), List.of("3"));

        // When
        postgres.primary().shutDownImmediately();
        Eventually.eventually(SOON, () -> assertThatThrownBy(this::facts).isInstanceOf(SQLException.class));
        postgres.primary().startAgain();

        // Then
        assertThat(facts()).containsExactly(List.of("1"), List.of("3"));
    }

    private static SplittableRandom random() {
        long seed = new SplittableRandom().nextLong();
        System.out.println("seed " + seed);
        return new SplittableRandom(seed);
    }

    @Test
    void damageIsNamed() throws Exception {
        // Given
        execute("insert into fact values (1)");

        // When
        postgres.flipPage(random());

        // Then
        assertThatThrownBy(() -> execute("insert into fact values (2)")).hasMessageContaining("invalid page in block");
        postgres.mend();
        assertThat(facts()).containsExactly(List.of("1"));

        // When
        postgres.damageLog(random());

        // Then
        assertThat(postgres.primary().postgres().running()).isFalse();
        postgres.mend();
        assertThat(facts()).containsExactly(List.of("1"));
    }
}
