package dev.hongbao.draw;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** An owner's looks for work at each tick do not read all open draws. The draws are forged: only their number matters. */
@ExtendWith(Servers.class)
class DrawPlansIT {
    @Test
    void aLookForWorkReadsOnlyWhatItFinds(TestServers servers) throws SQLException {
        // Given many open draws without a schedule
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of())) {
            new TestDraws(engine).create("{mode: table, prizes: [{name: a, count: 1}]}");
        }
        try (Connection owner = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = owner.createStatement()) {
            owner.setAutoCommit(false);
            sql.execute("alter table draw disable trigger user");
            sql.execute("insert into draw (id, shard, owner, mode, definition, seed, commitment, opens_at, closes_at)"
                    + " select gen_random_uuid(), d.shard, d.owner, d.mode, d.definition, d.seed, d.commitment, d.opens_at, d.closes_at"
                    + " from (select * from draw limit 1) as d, generate_series(1, 20000)");
            sql.execute("analyze draw");

            // When, Then
            assertThat(plan(sql, DrawStore.SCHEDULED)).contains("draw_scheduled");
            assertThat(plan(sql, DrawOwnerTask.PERIODS_OVER.formatted("1"))).contains("draw_scheduled");
            assertThat(plan(sql, DrawOwnerTask.DUE.formatted("1"))).contains("draw_due");
            owner.rollback();
        }
    }

    private static String plan(Statement sql, String rows) throws SQLException {
        try (ResultSet lines = sql.executeQuery(
                "explain select (select true from " + rows.replace("$1", "array[0, 1, 2, 3]") + " limit 1)")) {
            StringBuilder plan = new StringBuilder();
            while (lines.next()) {
                plan.append(lines.getString(1)).append('\n');
            }
            return plan.toString();
        }
    }
}
