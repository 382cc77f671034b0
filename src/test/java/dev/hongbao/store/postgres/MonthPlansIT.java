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

/** Every month begins with parts that are nearly empty, and with plans that were made for them. */
@ExtendWith(Servers.class)
class MonthPlansIT {
    private static final int CLAIMS = 40_000;

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
}
