package dev.hongbao.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Each of the monthly tables is analyzed in a transaction of its own, since the outbox' head waits for the transaction. */
@ExtendWith(Servers.class)
class MonthStatisticsIT {
    private static final int ROWS = 20_000;

    @Test
    void aTableThatCannotBeAnalyzedTakesNothingFromAnother(TestServers servers) throws SQLException {
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of());
                Connection owner = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = owner.createStatement()) {
            // Given two tables that have filled
            sql.execute("alter table transfer disable trigger user; alter table packet_amounts disable trigger user");
            sql.execute("insert into transfer (subject, debit, credit, amount, kind)"
                    + " select gen_random_uuid(), 1, 2, 1, 'refund' from generate_series(1, " + ROWS + ")");
            sql.execute("insert into packet_amounts select gen_random_uuid(), 0, array[1] from generate_series(1, "
                    + ROWS + ")");
            sql.execute("analyze transfer_other, packet_amounts_other");

            // When the statistics are renewed while one of them is locked
            try (Connection lock = TestDatabase.lock(servers.postgresOwnerUrl(), "transfer")) {
                TestEngine.get(Months.analyze(engine.engine().pool()));
                lock.rollback();
            }

            // Then the transaction of the other one had ended before
            try (ResultSet rows = sql.executeQuery(
                    "select distinct tablename from pg_stats where tablename in ('transfer', 'packet_amounts') and inherited")) {
                assertThat(rows.next()).isTrue();
                assertThat(rows.getString(1)).isEqualTo("packet_amounts");
                assertThat(rows.next()).isFalse();
            }
        }
    }
}
