package dev.hongbao.testing;

import static dev.hongbao.testing.TestEngine.get;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.stream.Stream;

/**
 * The clock of a test's database, which the test moves: {@code now()} and {@code clock_timestamp()} of its own stand in its search
 * path before Postgres'. Make it before the first engine, and move it after that.
 */
public final class TestTime implements AutoCloseable {
    /** For functions that have a search path of their own. */
    private static final String OWN_PATHS = """
            do $$ declare f regprocedure; begin
                for f in select oid from pg_proc where pronamespace = 'public'::regnamespace
                         and exists (select from unnest(proconfig) as c where starts_with(c, 'search_path=')) loop
                    execute 'alter function ' || f || ' set search_path = public, test_time, pg_catalog, pg_temp';
                end loop;
            end $$
            """;

    private final Connection owner;
    private final Statement statement;
    private boolean everywhere;

    public TestTime(TestServers servers) {
        try {
            owner = TestDatabase.connect(servers.postgresOwnerUrl());
            statement = owner.createStatement();
            // The tables that are there already are bound to Postgres' own clock: the first engine makes them anew.
            statement.execute("""
                    drop schema public cascade;
                    create schema public;
                    create schema test_time;
                    create table test_time.moved (ahead interval);
                    insert into test_time.moved values ('0');
                    create function test_time.now() returns timestamptz language sql stable
                        return pg_catalog.now() + (select ahead from test_time.moved);
                    create function test_time.clock_timestamp() returns timestamptz language sql volatile
                        return pg_catalog.clock_timestamp() + (select ahead from test_time.moved);
                    grant usage on schema test_time to public;
                    grant select on test_time.moved to public;
                    do $$ begin
                        execute 'alter database ' || current_database() || ' set search_path = public, test_time, pg_catalog';
                    end $$;
                    """);
            TestDatabase.letGo(owner.getCatalog());
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Moves Postgres' clock, ahead or back; an engine that is not named learns it within a second. */
    public void move(Duration by, TestEngine... learn) {
        try {
            if (!everywhere) {
                everywhere = true;
                statement.execute(OWN_PATHS);
            }
            statement.execute(
                    "update test_time.moved set ahead = ahead + interval '" + by.toMillis() + " milliseconds'");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        Stream.of(learn).map(TestEngine::engine).map(engine -> engine.clock).forEach(clock -> get(clock.ask()));
    }

    /** Postgres' time. */
    public Instant now() {
        try (ResultSet row = statement.executeQuery("select test_time.clock_timestamp()")) {
            row.next();
            return row.getObject(1, OffsetDateTime.class).toInstant();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        try {
            owner.close();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
