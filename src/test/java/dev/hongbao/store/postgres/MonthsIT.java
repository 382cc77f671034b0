package dev.hongbao.store.postgres;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.f4b6a3.uuid.UuidCreator;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The parts of a month: who writes into them, and who makes them. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MonthsIT {
    private static final DateTimeFormatter MONTH = DateTimeFormatter.ofPattern("_yyyy_MM");
    private static final List<String> TABLES = List.of("packet_amounts", "play", "transfer");

    private TestServers servers;
    private TestEngine engine;
    private Books books;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        engine = TestEngine.start(given, 1, Map.of());
        books = new Books(given);
        engine.deposit("ann", 1_000);
        Packet packet = engine.send("ann", 100, 2);
        engine.claim(packet, "bob");
    }

    @AfterAll
    void close() {
        books.assertClean();
        engine.close();
    }

    private static OffsetDateTime now() {
        return OffsetDateTime.now(ZoneOffset.UTC);
    }

    private static String part(String table, OffsetDateTime moment) {
        return table + MONTH.format(moment);
    }

    @Test
    void rowsAreInThePartOfTheirIdsMonth() {
        for (String table : List.of("transfer", "packet_amounts")) {
            assertThat(books.strings("select distinct tableoid::regclass from " + table))
                    .containsExactly(part(table, now()));
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            transfer; update %s set amount = amount + 1
            transfer; delete from %s
            transfer; truncate %s cascade
            transfer; insert into %s (subject, debit, credit, amount, kind) values (gen_random_uuid(), 1, 2, 1, 'refund')
            packet_amounts; update %s set amounts = array[1, 99]
            packet_amounts; delete from %s
            packet_amounts; truncate %s
            packet_amounts; insert into %s values (gen_random_uuid(), 0, array[1])
            play; update %s set prize = 1
            play; delete from %s
            play; truncate %s cascade
            play; insert into %s select * from play
            """)
    void aForgeryThatNamesAPartIsRefusedWhoeverTriesIt(String table, String forgery) {
        for (String part : List.of(part(table, now()), table + "_other")) {
            for (String role : List.of("owner", "app")) {
                assertThatThrownBy(() -> books.executeAs(role, forgery.formatted(part)))
                        .isInstanceOfSatisfying(
                                SQLException.class,
                                refused -> assertThat(refused.getSQLState()).isEqualTo("42501"));
            }
        }
    }

    @Test
    void theServerHasMadeTheNextMonthsAndLooksOnAsTheyPass() {
        assertThat(missing(now())).isEmpty();

        // When five months have passed
        OffsetDateTime later = now().plusMonths(5);
        assertThat(missing(later)).hasSize(4 * TABLES.size());
        SimpleMeterRegistry metrics = new SimpleMeterRegistry();
        Months months = new Months(engine.engine().pool(), metrics);
        get(months.makeAhead(later));
        get(months.makeAhead(later));

        // Then
        assertThat(missing(later)).isEmpty();
        assertThat(metrics.get("hongbao.month.missing").gauge().value()).isZero();
        for (String table : TABLES) {
            assertThat(books.strings(
                            "select relname from pg_class where relkind = 'r' and relname like '" + table + "\\_2%'"))
                    .contains(part(table, later.minusMonths(1)), part(table, later.plusMonths(2)));
        }
        // and what stands in such a part is kept, too
        assertThatThrownBy(() -> books.executeAs("owner", "delete from " + part("transfer", later)))
                .hasMessageContaining("refused");
    }

    @Test
    void whoReadsForLongDelaysAPartAndHoldsUpNobody() throws Exception {
        OffsetDateTime later = now().plusMonths(15);
        try (Connection reader = TestDatabase.begin(servers.postgresOwnerUrl(), "select from transfer")) {
            SimpleMeterRegistry metrics = new SimpleMeterRegistry();

            get(new Months(engine.engine().pool(), metrics).makeAhead(later));

            assertThat(metrics.get("hongbao.month.missing").gauge().value()).isEqualTo(4);
            assertThat(missing(later)).extracting(Months.Missing::table).containsOnly("transfer");
            reader.rollback();
        }
        get(new Months(engine.engine().pool(), new SimpleMeterRegistry()).makeAhead(later));
        assertThat(missing(later)).isEmpty();
    }

    @Test
    void aRowOfAnUnknownMonthIsTakenAndTold() throws Exception {
        // Given a server whose clock is years ahead, and one whose ids are of no time at all
        OffsetDateTime ahead = now().plusMonths(25);
        long before = get(Months.others(engine.engine().pool()));
        deposit(UuidCreator.getTimeOrderedEpoch(ahead.toInstant()));
        deposit(UUID.randomUUID());

        // Then
        assertThat(books.longOf("select count(*) from transfer_other")).isEqualTo(2);
        assertThat(get(Months.others(engine.engine().pool()))).isEqualTo(before + 2);

        // When that month comes, its row goes into its part
        String sum = "select count(*) || ' ' || sum(id) || ' ' || sum(amount) from transfer";
        List<String> kept = books.strings(sum);
        SimpleMeterRegistry metrics = new SimpleMeterRegistry();
        get(new Months(engine.engine().pool(), metrics).makeAhead(ahead));
        assertThat(missing(ahead)).isEmpty();
        assertThat(metrics.get("hongbao.month.other.rows").gauge().value()).isEqualTo(before + 1);
        assertThat(books.longOf("select count(*) from " + part("transfer", ahead)))
                .isOne();
        assertThat(books.strings(sum)).isEqualTo(kept);
        // and both are guarded as before
        for (String part : List.of(part("transfer", ahead), "transfer_other")) {
            assertThatThrownBy(() -> books.executeAs("owner", "delete from " + part))
                    .hasMessageContaining("refused");
        }
    }

    @Test
    void manyRowsOfAMonthStayWhereTheyAreUntilTheOwnerMovesThem() throws Exception {
        OffsetDateTime ahead = now().plusMonths(30);
        for (int row = 0; row < 3; row++) {
            deposit(UuidCreator.getTimeOrderedEpoch(ahead.toInstant()));
        }
        String month = ahead.toLocalDate().withDayOfMonth(1).toString();

        // When a few may move, Then these do not
        assertThatThrownBy(() -> books.executeAs("owner", "select make_month('transfer', '" + month + "', 2)"))
                .hasMessageContaining("more than 2 rows");
        assertThat(missing(ahead)).contains(new Months.Missing("transfer", LocalDate.parse(month), true));

        // When
        books.executeAs("owner", "select make_month('transfer', '" + month + "', 3)");

        // Then
        assertThat(books.longOf("select count(*) from " + part("transfer", ahead)))
                .isEqualTo(3);
    }

    @Test
    void noPartIsMadeForWhatIsNoMonthOrFarAway() {
        for (String call : List.of(
                "select make_month('account', date_trunc('month', now())::date)",
                "select make_month('transfer', '2026-02-02')",
                "select make_month('transfer', '2019-12-01')",
                "select make_month('transfer', (date_trunc('month', now()) + interval '4 years')::date)")) {
            assertThatThrownBy(() -> books.executeAs("app", call)).hasMessageContaining("no part of");
        }
    }

    private List<Months.Missing> missing(OffsetDateTime moment) {
        return get(Months.missing(engine.engine().pool(), moment));
    }

    /** To bob. */
    private void deposit(UUID subject) throws SQLException {
        books.executeAs(
                "app",
                "insert into command (id, operation, actor, role, key) values ('" + subject
                        + "', 'deposit', 'hand', 'service', '" + subject + "');"
                        + " insert into transfer (subject, debit, credit, amount, kind) select '" + subject
                        + "', d.id, c.id, 1, 'deposit'"
                        + " from account as d join account as c on c.owner = 'bob' and c.kind = 'wallet'"
                        + " where d.kind = 'source'");
    }
}
