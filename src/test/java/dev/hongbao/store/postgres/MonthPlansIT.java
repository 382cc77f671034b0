package dev.hongbao.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Packet;
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

/** Every month begins with parts that are nearly empty, with plans that were made for them, and with statistics that are renewed. */
@ExtendWith(Servers.class)
class MonthPlansIT {
    private static final int CLAIMS = 40_000;
    private static final int ROWS = 20_000;

    @Test
    void aPartThatWasCountedWhileItWasNearlyEmptyIsReadByTheRightIndexesWhenItFills(TestServers servers)
            throws SQLException {
        // Given a part of which Postgres knows that it is nearly empty, and a session with plans for that
        Packet packet;
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "1"))) {
            engine.deposit("ann", 100);
            packet = engine.send("ann", 100, 2);
        }
        try (Connection owner = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement sql = owner.createStatement()) {
            sql.execute("alter table transfer disable trigger user");
            sql.execute("vacuum analyze transfer");
            String settle =
                    "select settle_claims(array[0::smallint], array[epoch], array[nonce], array[last_seq], array[last_seq + 1],"
                            + " array['" + packet.id()
                            + "'::uuid], array[1], array[0], array['bob'], array[50::bigint]) from shard";
            String look = "select * from settled_claims(array['" + packet.id() + "'::uuid], array['ann'])";
            blocks(owner, settle);
            blocks(owner, look);

            // When it fills, and nobody has counted it anew
            sql.execute("insert into transfer (subject, debit, credit, amount, kind, slot)"
                    + " select (left(first_uuid(now())::text, 15) || substr(gen_random_uuid()::text, 16))::uuid, 1, 100 + n % 1000, 1,"
                    + " 'claim', 0 from generate_series(1, " + CLAIMS + ") as n");

            // Then
            assertThat(blocks(owner, settle)).isLessThan(60);
            assertThat(blocks(owner, look)).isLessThan(60);
        }
    }

    /** Blocks of the indexes of the table's parts that a statement reads. It is rolled back. */
    private static long blocks(Connection owner, String statement) throws SQLException {
        owner.setAutoCommit(false);
        try (Statement sql = owner.createStatement()) {
            long before = counted(sql);
            sql.executeQuery(statement).close();
            return counted(sql) - before;
        } finally {
            owner.rollback();
            owner.setAutoCommit(true);
        }
    }

    private static long counted(Statement sql) throws SQLException {
        try (ResultSet rows = sql.executeQuery(
                "select sum(pg_stat_get_xact_blocks_fetched(i.indexrelid))"
                        + " from pg_inherits as p join pg_index as i on i.indrelid = p.inhrelid where p.inhparent = 'transfer'::regclass")) {
            rows.next();
            return rows.getLong(1);
        }
    }

    /** Each in a transaction of its own, since the outbox' head waits for the transaction. */
    @Test
    void aTableThatCannotBeAnalyzedTakesNothingFromAnother() throws SQLException {
        try (TestServers servers = Servers.fresh();
                TestEngine engine = TestEngine.start(servers, 1, Map.of());
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
