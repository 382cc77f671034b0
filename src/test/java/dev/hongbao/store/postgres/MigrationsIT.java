package dev.hongbao.store.postgres;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import io.vertx.pgclient.PgBuilder;
import io.vertx.sqlclient.Pool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith({Servers.class, VertxExtension.class})
class MigrationsIT {
    private static final Path SCRIPTS = Path.of("src/main/resources/db/migration");
    private static final String NEWER = "select obj_description('transfers_under_way()'::regprocedure, 'pg_proc')";
    private static final String WAITING = "select count(*) from pg_locks where locktype = 'advisory' and not granted"
            + " and database = (select oid from pg_database where datname = current_database())";
    private static final String STEPS = "select count(*)::text from flyway_schema_history";
    private static final String NOTE = "select obj_description('flyway_schema_history'::regclass, 'pg_class')";

    private Books books;
    private String ownerUrl;
    private PostgresAddress owner;
    private PostgresAddress app;
    private Vertx vertx;
    private Pool asked;

    @BeforeEach
    void migrated(TestServers servers, Vertx vertx) {
        books = new Books(servers);
        ownerUrl = servers.postgresOwnerUrl();
        owner = PostgresAddress.of(ownerUrl);
        app = PostgresAddress.of(servers.postgresAppUrl());
        this.vertx = vertx;
        asked = PgBuilder.pool().connectingTo(app.connectOptions()).using(vertx).build();
        migrate();
    }

    /** What they noted, so that the next one finds a database of this version. */
    @AfterEach
    void forget() {
        books.execute("comment on table flyway_schema_history is null");
        books.execute("delete from flyway_schema_history where installed_rank = 99999");
    }

    /** As a server that starts on the database. */
    private void migrate() {
        get(Migrations.run(vertx, asked, owner, app));
    }

    private String one(String query) {
        return books.strings(query).get(0);
    }

    private void note(String note) {
        books.execute("comment on table flyway_schema_history is '" + note + "'");
    }

    @Test
    void whatIsDoneIsNotedAndAnythingElseAsksFlywayAgain() {
        // Given
        String steps = one(STEPS);
        String note = one(NOTE);
        assertThat(note)
                .matches("hongbao " + Migrations.VERSION + ", oldest 0\\.1\\.0: [0-9a-f]{64} for " + app.user());

        // When it is run again, and then on what another build of this version left
        migrate();
        assertThat(one(STEPS)).isEqualTo(steps);
        note(note.replace(": ", ": 0"));
        books.execute("delete from flyway_schema_history where description = '90 grants'");
        migrate();

        // Then
        assertThat(one(STEPS)).isEqualTo(steps);
        assertThat(one(NOTE)).isEqualTo(note);
    }

    /** An older server may start while servers are upgraded, or after somebody went back. */
    @Test
    void anOlderVersionLeavesTheFunctionsOfANewerOneAsTheyAre(@TempDir Path newerScripts) throws Exception {
        // Given a newer version, of which one repeatable script is different
        try (var files = Files.list(SCRIPTS)) {
            for (Path file : files.toList()) {
                Files.copy(file, newerScripts.resolve(file.getFileName()));
            }
        }
        Files.writeString(
                newerScripts.resolve("R__75_reconcile.sql"),
                "\ncomment on function transfers_under_way() is 'newer';\n",
                StandardOpenOption.APPEND);
        try {
            get(Migrations.run(
                    vertx,
                    asked,
                    owner,
                    app,
                    new Migrations.Schema("99.2.3", "0.1.0", "filesystem:" + newerScripts, "newer")));
            assertThat(one(NEWER)).isEqualTo("newer");
            String steps = one(STEPS);

            // When
            migrate();

            // Then
            assertThat(one(NEWER)).isEqualTo("newer");
            assertThat(one(STEPS)).isEqualTo(steps);
            assertThat(one(NOTE)).startsWith("hongbao 99.2.3, oldest 0.1.0: newer for ");
        } finally {
            books.execute("comment on function transfers_under_way() is null");
        }
    }

    /** The older server has read the note before the newer one wrote it. */
    @Test
    void anOlderVersionThatWaitedForANewerOneLeavesItsFunctionsToo() throws Exception {
        // Given a newer version at work, and an older one that has to migrate
        String newer = "hongbao 99.2.3, oldest 0.1.0: newer for x";
        books.execute("comment on table flyway_schema_history is null");
        Future<Void> older;
        try (Connection connection = TestDatabase.begin(
                        ownerUrl, "select pg_advisory_xact_lock(hashtextextended('hongbao migrates', 0))");
                Statement sql = connection.createStatement()) {
            older = Migrations.run(vertx, asked, owner, app);
            eventually(Duration.ofSeconds(10), () -> assertThat(one(WAITING)).isEqualTo("1"));

            // When
            sql.execute("comment on table flyway_schema_history is '" + newer + "'");
            sql.execute("delete from flyway_schema_history where description = '90 grants'");
            connection.commit();
        }

        // Then
        get(older);
        assertThat(one(NOTE)).isEqualTo(newer);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        hongbao 99.2.3, oldest 99.1.0: 0 | of version 99.2.3, which supports servers from version 99.1.0 on; this is version
        of another day                   | of a newer version: it has migration 99999; this is version
        """)
    void aDatabaseThatIsNewerThanThatIsRefused(String note, String why) {
        // Given
        note(note);
        books.execute("insert into flyway_schema_history select 99999, '99999', 'later', type, script, checksum,"
                + " installed_by, now(), 1, true from flyway_schema_history where version = '1'");
        String steps = one(STEPS);

        // When, then
        assertThatThrownBy(this::migrate)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(why)
                .hasMessageEndingWith("Start a newer version, or restore a backup from before the upgrade");
        assertThat(one(STEPS)).isEqualTo(steps);
        assertThat(one(NOTE)).isEqualTo(note);
    }

    @Test
    void aDatabaseOfACandidateIsRefused() {
        // Given
        String script = "update flyway_schema_history set script = '%s' where version = '1'";
        note("hongbao 0.1.0 after none: V1__ledger.sql 1 for x");
        books.execute(script.formatted("V1__ledger.sql"));

        // When, then
        try {
            assertThatThrownBy(this::migrate)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("The database is of a release candidate of version 0.1.0")
                    .hasMessageContaining("Start with an empty database");
        } finally {
            books.execute(script.formatted("V1__tables.sql"));
        }
    }

    @Test
    void aDatabaseOfAnotherProgramIsLeftAloneWithAdviceOfOurs() {
        // Given tables of another program where ours would be
        String role = "alter role \"" + owner.user() + "\" ";
        books.execute("comment on table flyway_schema_history is null; create schema other_program;"
                + " create table other_program.orders (id integer); " + role + "set search_path = other_program");

        // When, then
        try {
            assertThatThrownBy(this::migrate)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("The database holds objects of another program, such as the table orders."
                            + " Give Hongbao a database of its own: CREATE DATABASE hongbao");
        } finally {
            books.execute(role + "reset search_path; drop schema other_program cascade");
        }
    }

    /** A function that works with its owner's rights serves the server's role and nobody else, and finds nothing but the server's tables. */
    @Test
    void whatWorksWithItsOwnersRightsIsForTheServerAlone() {
        String path = " | pg_catalog, public, pg_temp | ";
        String forOwner = path + owner.user();
        String forServer = path + app.user() + " " + owner.user();
        String ofTables = " | public, pg_temp | " + app.user() + " " + owner.user();
        assertThat(books.strings("""
                    select p.oid::regprocedure || ' | '
                        || (select split_part(s, '=', 2) from unnest(p.proconfig) as s where s like 'search_path=%') || ' | '
                        || (select string_agg(g.grantee, ' ' order by g.grantee)
                            from (select coalesce(nullif(a.grantee, 0)::regrole::text, 'public') as grantee
                                  from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a) as g)
                    from pg_proc as p
                    where p.prosecdef and p.pronamespace = 'public'::regnamespace
                    """))
                .containsExactlyInAnyOrder(
                        "transfer_moves_balances()" + forOwner,
                        "plays_are_issued()" + forOwner,
                        "pay_refunds(smallint[])" + forServer,
                        "revoke_tokens(text,timestamp with time zone,text,text,text)" + forServer,
                        "audit_append(text[],text[],text[],text[],text[],text[],text[],smallint[],text[],text[],bigint[],bigint[])"
                                + forServer,
                        "audit_log_keeps_a_year()" + forOwner,
                        "lock_accounts(bigint[])" + forServer,
                        "held_accounts(bigint[])" + forServer,
                        "hold_plays(uuid[],uuid[],text[],smallint[],uuid[],bigint[],bigint[],bigint[])" + forServer,
                        "feeds_begin_anew()" + forServer,
                        "end_pools(uuid[],integer)" + forServer,
                        "make_month(text,date)" + ofTables,
                        "analyze_next_month_table(text)" + ofTables,
                        "transfers_begun()" + forServer,
                        "summarize_transfers()" + forServer);
    }
}
