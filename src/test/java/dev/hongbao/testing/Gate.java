package dev.hongbao.testing;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Holds up whoever inserts into a table, in the middle of the transaction and for as long as a test likes: a lock would not, since
 * the writer does not wait long for one.
 */
public final class Gate implements AutoCloseable {
    private final Connection owner;

    /** Shuts the gate of a table; whose statement is there already gets through. */
    public Gate(String ownerUrl, String table) throws SQLException {
        this.owner = TestDatabase.connect(ownerUrl);
        execute("create table if not exists gate (); grant select on gate to public;"
                + " create or replace function wait_at_gate() returns trigger language plpgsql as $$ begin"
                + " while exists (select from gate) loop perform pg_sleep(0.01); end loop; return null; end $$;"
                + " create or replace trigger gate before insert on " + table + " execute function wait_at_gate();"
                + " insert into gate default values");
        owner.setAutoCommit(false);
        execute("delete from gate");
    }

    /** Runs something as the tables' owner that is seen when the gate opens; it passes the gate itself. */
    public void meanwhile(String sql) throws SQLException {
        execute(sql);
    }

    /** Opens it. */
    @Override
    public void close() throws SQLException {
        owner.commit();
        owner.close();
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = owner.createStatement()) {
            statement.execute(sql);
        }
    }
}
