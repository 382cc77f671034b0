package dev.hongbao.domain.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.engine.postgres.PostgresAddress;
import dev.hongbao.testing.PastBooks;
import dev.hongbao.testing.TestDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What stands in the way of archiving a month: each is told, and changes nothing. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ArchiveRefusalsIT {
    @TempDir
    Path folder;

    private PastBooks past;

    @BeforeAll
    void aMonthThatCouldBeArchived() {
        past = new PastBooks().settleDown();
        assertThat(hindrances()).isEmpty();
    }

    @AfterAll
    void stop() {
        past.close();
    }

    private List<String> hindrances() {
        return past.books.strings(
                "select h from archive_hindrances('" + past.month().atDay(1) + "') as h");
    }

    /** Each row: what makes it so, what is told. In a transaction of its own; the rules that the server keeps are away. */
    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            update packet set closed_at = null, refund = 0 where refund = 0; packets: open
            update draw set closed_at = null, final_table = null; draws: open
            update campaign set closed_at = null, returned = 0 where kind = 'campaign'; campaigns and rains: open
            update rain set ended = false; campaigns and rains: open
            insert into quarantine_unit (id, kind, shard, sqlstate, reason) select id, 'packet', 0, '23514', 'test' from packet; quarantined
            update account set balance = 1 where kind = 'escrow' and owner in (select id::text from packet); not empty
            update account set balance = 1 where kind = 'hold'; not empty
            insert into play_request (id, draw, user_id, plays, cost, attempt, status) select gen_random_uuid(), id, 'x', 1, 2, id, 'held' from draw; costs of plays: held
            delete from fulfilment; prizes that your people hand out: not done
            insert into fulfilment (draw, seq, n, state, actor) select draw, seq, 2, 'sent', 'x' from fulfilment; prizes that your people hand out: not done
            with f as (delete from fulfilment) update draw set definition = definition || jsonb_build_object('prizes', '[]'::jsonb, 'fallback', (select p from jsonb_array_elements(definition -> 'prizes') as p where p ? 'class' limit 1)); prizes that your people hand out: not done
            insert into outbox (shard, type, subjects, events) select -1, 'packet.sent', array[id], 1 from packet; rows of the outbox: kept
            insert into idempotency (user_id, operation, key, fingerprint, subject) select 'x', 'send', id::text, '', id from packet; idempotency keys: remembered
            insert into group_event (group_id, seq, type, subject, claimed) select 'g', row_number() over (), 'packet.sent', id, 0 from packet; events of feeds: kept
            insert into unannounced (packet) select id from packet; events of feeds: kept
            update checkpoint set transfer = transfer - 1; not all of its transfers are reconciled
            insert into checkpoint_due select min(id) from account; not all of its transfers are reconciled
            select make_month('play', (date_trunc('month', min(at)) - interval '1 month')::date) from transfer; an earlier month stands before it
            """)
    void isToldAndChangesNothing(String so, String told) throws SQLException {
        try (Connection owner = TestDatabase.connect(past.servers.postgresOwnerUrl());
                Statement sql = owner.createStatement()) {
            owner.setAutoCommit(false);
            for (String table : List.of("packet", "draw", "campaign", "rain", "fulfilment")) {
                sql.execute("alter table " + table + " disable trigger user");
            }
            sql.execute(so);

            assertThatThrownBy(() ->
                            sql.execute("select seal_month('" + past.month().atDay(1) + "')"))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            refused -> assertThat(refused.getSQLState()).isEqualTo("HB005"))
                    .hasMessageContaining(told);
            owner.rollback();
        }
        assertThat(hindrances()).isEmpty();
    }

    /** A pool whose id is of this month by a clock that was behind its campaign's. */
    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            update campaign set closed_at = null, returned = 0 where kind = 'campaign'; campaigns and rains: open
            insert into outbox (shard, type, subjects, events) select -1, 'campaign.ended', array[id], 1 from campaign where kind = 'campaign'; rows of the outbox: kept
            """)
    void aCampaignOfAnotherMonthIsBoundToItsPools(String so, String told) throws SQLException {
        try (Connection owner = TestDatabase.connect(past.servers.postgresOwnerUrl());
                Statement sql = owner.createStatement()) {
            owner.setAutoCommit(false);
            sql.execute("alter table campaign disable trigger user; alter table pool disable trigger user");
            sql.execute("update campaign set id = first_uuid(now()) where kind = 'campaign';"
                    + " update pool set campaign = first_uuid(now()) where campaign not in (select id from rain)");
            sql.execute(so);

            assertThatThrownBy(() ->
                            sql.execute("select seal_month('" + past.month().atDay(1) + "')"))
                    .hasMessageContaining(told);
            owner.rollback();
        }
    }

    /** As the ids of a clock that was ahead, before the month had parts. */
    @Test
    void rowsOfTheMonthThatStandInNoPartAreToldBeforeItIsSealed() throws SQLException {
        String month = past.month().atDay(1).toString();
        try (Connection owner = TestDatabase.connect(past.servers.postgresOwnerUrl());
                Statement sql = owner.createStatement()) {
            owner.setAutoCommit(false);
            sql.execute("create temporary table held on commit drop as select y.* from play as y, month_parts('" + month
                    + "') as p where p.parent = 'play' and y.tableoid = to_regclass(p.part)");
            sql.execute("alter table play disable trigger user");
            sql.execute("do $$ begin execute format('drop table %I', month_part('play', '" + month + "')); end $$");
            sql.execute("insert into play select * from held");

            assertThatThrownBy(() -> sql.execute("select seal_month('" + month + "')"))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            refused -> assertThat(refused.getSQLState()).isEqualTo("HB005"))
                    .hasMessageContaining("rows of the month stand in play_other: move them")
                    .hasMessageContaining("select make_month('play', '" + month + "', 1000000)");
            owner.rollback();
        }
        assertThat(hindrances()).isEmpty();
    }

    /** The news of a reversal is read with what was reversed, in whatever month that is. */
    @Test
    void newsOfAReversalThatWasMadeLaterHoldsTheMonthOfWhatItReverses() throws SQLException {
        try (Connection owner = TestDatabase.connect(past.servers.postgresOwnerUrl());
                Statement sql = owner.createStatement()) {
            owner.setAutoCommit(false);
            sql.execute("alter table reversal disable trigger user");
            sql.execute("update reversal set command = first_uuid(now())"
                    + " where command = (select min(command::text)::uuid from reversal)");
            sql.execute("insert into outbox (shard, type, subjects, events)"
                    + " values (-1, 'transfer.reversal', array[first_uuid(now())], 1)");

            assertThatThrownBy(() ->
                            sql.execute("select seal_month('" + past.month().atDay(1) + "')"))
                    .hasMessageContaining("rows of the outbox: kept");
            owner.rollback();
        }
        assertThat(hindrances()).isEmpty();
    }

    @Test
    void undeliveredRowsAreToldAsSuch() throws SQLException {
        try (Connection owner = TestDatabase.connect(past.servers.postgresOwnerUrl());
                Statement sql = owner.createStatement()) {
            owner.setAutoCommit(false);
            sql.execute(
                    "insert into webhook (id, url, types, batch, position, low) values (gen_random_uuid(), 'u', '{a}', 1, '', 0)");
            sql.execute(
                    "insert into outbox (shard, type, subjects, events) select -1, 'packet.sent', array[id], 1 from packet");

            assertThatThrownBy(() ->
                            sql.execute("select seal_month('" + past.month().atDay(1) + "')"))
                    .hasMessageContaining("rows of the outbox: not delivered");
            owner.rollback();
        }
    }

    @Test
    void aMonthThatIsNotOverOrHasNoPartsIsRefused() throws Exception {
        YearMonth now = YearMonth.now(ZoneOffset.UTC);
        try (Archiver archiver = past.archiver(folder)) {
            assertThatThrownBy(() -> archiver.archive(now))
                    .isInstanceOf(ArchiveHinderedException.class)
                    .hasMessageStartingWith("the month is not over: it can be archived from "
                            + now.plusMonths(1).atDay(2) + " 00:00 UTC on");
            assertThatThrownBy(() -> archiver.archive(past.month().minusYears(1)))
                    .isInstanceOf(ArchiveHinderedException.class)
                    .hasMessage("there are no parts of this month: nothing to archive");
            assertThatThrownBy(() -> archiver.archive(past.month().plusMonths(1)))
                    .isInstanceOf(ArchiveHinderedException.class)
                    .hasMessageContaining("an earlier month stands before it: archive " + past.month() + " first");
        }
        assertThat(past.books.strings("select month from archive_month")).isEmpty();
    }

    @Test
    void oneArchivesAtATimeAndADirectoryOfAnotherInstallationIsLeftAlone() throws Exception {
        try (Archiver first = past.archiver(folder)) {
            assertThatThrownBy(() -> Archiver.open(PostgresAddress.of(past.servers.postgresOwnerUrl()), folder))
                    .isInstanceOf(ArchiveHinderedException.class)
                    .hasMessageContaining("at work");
            Manifest foreign = new Manifest(
                    past.month(), new Manifest.Origin(UUID.randomUUID(), "0.1.0", "21"), null, List.of(), List.of());
            new ArchiveFolder(folder).write(Manifest.fileName(past.month()), foreign.toBytes());
            assertThatThrownBy(() -> first.write(past.month()))
                    .isInstanceOf(ArchiveHinderedException.class)
                    .hasMessageContaining("another installation");
        }
    }
}
