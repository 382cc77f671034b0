package dev.hongbao.server;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.store.postgres.Sweep;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.IdempotencyKey;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is kept for a time only goes when its time is over, and nothing else does: by the options' defaults. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RetentionIT {
    private static final String AUDIT_ROWS = "insert into audit_log (n, at, method, route, status)"
            + " select n, now() - interval '1 day' * (1096 - n), 'GET', '/', 200 from generate_series(1, 3) as n";

    private Books books;
    private TestEngine engine;

    @BeforeAll
    void start(TestServers servers) {
        books = new Books(servers);
        engine = TestEngine.start(servers, 1, Map.of("shards", "1"));
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    @BeforeEach
    void nothingIsThere() {
        for (String table : List.of("audit_log", "restriction", "revocation")) {
            books.execute("alter table " + table + " disable trigger user; delete from " + table + "; alter table "
                    + table + " enable trigger user");
        }
        books.execute("delete from outbox where type ~ '^(user|group)';"
                + " delete from idempotency; update audit_floor set n = 0");
    }

    private void sweep() {
        engine.engine().sweeps.forEach(sweep -> get(sweep.sweep()));
    }

    /** Each row: how old restrictions and revocations are, what there is, and which of it is left. */
    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
        1096; insert into idempotency (user_id, operation, key, fingerprint, subject, at) select 'u', 'o', k, '', gen_random_uuid(), now() - interval '1 hour' * k::integer from unnest(array['47', '49']) as k; select key from idempotency; 47
        1096; insert into play_request (id, draw, user_id, plays, cost, attempt, status, reason, decided_at) select gen_random_uuid(), gen_random_uuid(), h, 1, 1, gen_random_uuid(), 'returned', 'limit', now() - interval '1 hour' * h::integer from unnest(array['47', '49']) as h; select user_id from play_request where status = 'returned' and user_id in ('47', '49'); 47
        1096; insert into audit_log (n, at, method, route, status) select n, now() - interval '1 day' * (1097 - n), 'GET', '/', 200 from generate_series(1, 3) as n; select n from audit_log; 3
        1096; select change_restriction('user', u, 'frozen', p, 'backend', 'why') from (values ('lifted', true), ('lifted', false), ('held', true)) as c(u, p); select subject || ' ' || placed from restriction order by n; lifted false, held true
        1096; insert into revocation (user_id, not_before, actor, key, at) values ('ann', '2001-01-01', 'backend', 'a', now()), ('ann', '2002-01-01', 'backend', 'b', now()), ('ann', '2002-01-01', 'backend', 'c', now()), ('bob', '2001-01-01', 'backend', 'd', now()); select key from revocation order by n; b, d
        1094; select change_restriction('user', 'ann', 'frozen', p, 'backend', 'why') from (values (true), (false)) as c(p); select placed from restriction order by n; t, f
        1094; select revoke_tokens('ann', null, 'backend', k, null) from (values ('a'), ('b')) as c(k); select key from revocation order by n; a, b
        """)
    void whatIsOldAndOverGoesAndTheRestStays(int days, String given, String left, String expected) {
        // Given
        books.strings(given.startsWith("insert") ? given + " returning 1" : given);
        String old = "now() - interval '" + days + " days'";
        for (String table : List.of("restriction", "revocation")) {
            books.execute("alter table " + table + " disable trigger user; update " + table + " set at = " + old
                    + "; alter table " + table + " enable trigger user");
        }

        // When
        sweep();

        // Then
        assertThat(String.join(", ", books.strings(left))).isEqualTo(expected);
    }

    @Test
    void moreThanAPageGoesPageByPage() {
        // Given
        books.execute("insert into idempotency (user_id, operation, key, fingerprint, subject, at)"
                + " select 'u', 'o', k, '', gen_random_uuid(), now() - interval '1 year' from generate_series(1, "
                + (2 * Sweep.PAGE + 1)
                + ") as k");

        // When
        sweep();

        // Then
        assertThat(books.longOf("select count(*) from idempotency")).isZero();
        assertThat(books.longOf("select idempotency_sweep(interval '0', 10)")).isZero();
    }

    /** Young, or still in force, or not the oldest: nobody may remove it, neither the server nor the owner of the tables. */
    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
        app; audit_log is never changed; delete from audit_log
        owner; audit_log is never changed; delete from audit_log where n = 2
        app; permission denied; update audit_floor set n = 1
        app; permission denied; delete from player
        app; restriction is never changed; delete from restriction where subject = 'young' and placed
        owner; restriction is never changed; delete from restriction where subject = 'held'
        app; revocation is never changed; delete from revocation where key = 'a'
        owner; revocation is never changed; delete from revocation where user_id = 'held'
        """)
    void theDatabaseKeepsWhatCounts(String role, String why, String sql) {
        // Given
        books.execute("insert into audit_log (n, at, method, route, status)"
                + " select n, now() - interval '1 day' * (367 - n), 'GET', '/', 200 from generate_series(1, 3) as n");
        books.execute("insert into restriction (scope, subject, kind, placed, actor, reason, at) values ('user',"
                + " 'young', 'frozen', true, 'b', 'x', now() - interval '364 days'), ('user', 'young', 'frozen', false,"
                + " 'b', 'x', now()), ('user', 'held', 'frozen', true, 'b', 'x', now() - interval '9 years')");
        books.execute("insert into revocation (user_id, not_before, actor, key, at) values ('young', '2001-01-01',"
                + " 'b', 'a', now() - interval '364 days'), ('young', '2002-01-01', 'b', 'b', now()), ('held',"
                + " '2001-01-01', 'b', 'c', now() - interval '9 years')");

        // Then
        assertThatThrownBy(() -> books.executeAs(role, sql)).hasMessageContaining(why);
    }

    @Test
    void aLogWithoutItsOldestRowsIsWholeAndGoesOn() {
        // Given
        books.execute(AUDIT_ROWS);
        String append =
                "select audit_append(array['a'], array['service'], array[null], array[null], array['GET'], array['/'],"
                        + " array[null], array[200::smallint], array[null], array[null], array[1::bigint],"
                        + " array[0::bigint])";

        // When all but the last row are gone, and another comes
        books.longOf("select audit_log_sweep(interval '1093 days 12 hours', 1000)");
        books.strings(append);
        // Then
        assertThat(books.strings("select n from audit_log order by n")).containsExactly("3", "4");
        assertThat(books.audited()).isEmpty();

        // When all are gone, and another comes
        books.execute(
                "alter table audit_log disable trigger audit_log_is_kept; update audit_log set at = now() - interval"
                        + " '1096 days'; alter table audit_log enable trigger audit_log_is_kept");
        sweep();
        books.strings(append);
        // Then
        assertThat(books.strings("select n from audit_log")).containsExactly("5");
        assertThat(books.audited()).isEmpty();

        // When a row is removed behind the rule's back
        books.strings(append);
        books.execute("alter table audit_log disable trigger user; delete from audit_log where n = 5;"
                + " alter table audit_log enable trigger user");
        // Then
        assertThat(books.audited())
                .singleElement()
                .satisfies(line -> assertThat(line).startsWith("row 6 at"));
    }

    @Test
    void aRequestWhoseReturnIsForgottenIsAsGoodAsNew() {
        // Given a play that was refused by the script, as nothing settled did, and its cost returned
        TestDraws draws = new TestDraws(engine);
        draws.deposit("ann", TestDraws.POINTS, 10);
        Draw draw = draws.create(
                "{mode: table, cost: {asset: POINTS, amount: 3}, prizes: [{name: a, count: 2, perUser: 1}]}");
        assertThat(get(draws.play(0, draw, "ann")).kind()).isEqualTo(PlayOutcome.Kind.PLAYED);
        IdempotencyKey key = TestEngine.newKey();
        PlayOutcome.Kind refused = get(draws.play(0, draw, "ann", 1, key)).kind();
        assertThat(refused).isNotEqualTo(PlayOutcome.Kind.PLAYED);
        assertThat(books.longOf(
                        "select count(*) from play_request where status = 'returned' and draw = '" + draw.id() + "'"))
                .isOne();

        // When that is forgotten, and the same is asked again
        books.execute("update play_request set decided_at = decided_at - interval '3 days' where status = 'returned'");
        sweep();
        assertThat(books.longOf("select count(*) from play_request where draw = '" + draw.id() + "'"))
                .isZero();
        PlayOutcome.Kind again = get(draws.play(0, draw, "ann", 1, key)).kind();

        // Then
        assertThat(again).isEqualTo(refused);
        assertThat(draws.balance("ann", TestDraws.POINTS)).isEqualTo(7);
        books.assertReconciled();
    }
}
