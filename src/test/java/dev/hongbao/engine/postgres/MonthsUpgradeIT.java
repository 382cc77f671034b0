package dev.hongbao.engine.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.sql.Connection;
import java.sql.Statement;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;

class MonthsUpgradeIT {
    private static final String LAST_MONTH =
            "(date_trunc('month', now() at time zone 'UTC') at time zone 'UTC') - interval '20 days'";

    private static final List<String> SUMS = List.of(
            "select md5(string_agg(t::text, ',' order by t.id)) from (select subject, id, debit, credit, amount, at, kind, slot"
                    + " from transfer) as t",
            "select md5(string_agg(a::text, ',' order by packet, block)) from packet_amounts as a",
            "select md5(string_agg(p::text, ',' order by draw, seq)) from play as p",
            "select sum(balance * id) from account",
            "select md5(string_agg(c::text, ',' order by packet, slot)) from claim as c");

    @Test
    void whatTheVersionBeforeHoldsIsCarriedOverAndGoesOn() throws Exception {
        try (TestServers empty = Servers.fresh()) {
            carryOver(empty);
        }
    }

    private static void carryOver(TestServers servers) throws Exception {
        // Given a database of the version before: a deposit of last month, a packet of today with a claim, a play; and
        // ids of no month
        PostgresAddress owner = PostgresAddress.of(servers.postgresOwnerUrl());
        String app = PostgresAddress.of(servers.postgresAppUrl()).login().user();
        Flyway.configure()
                .dataSource(owner.jdbcUrl(), owner.login().user(), owner.login().password())
                .locations("classpath:db/migration")
                .placeholders(Map.of("app", '"' + app + '"'))
                .repeatableSqlMigrationPrefix("none__") // the grants name what came later
                .target("15")
                .load()
                .migrate();
        Books books = new Books(servers);
        try (Connection connection = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = connection.createStatement()) {
            statement.execute(ROWS.formatted(LAST_MONTH));
        }
        List<String> before =
                SUMS.stream().map(sum -> books.strings(sum).get(0)).toList();
        assertThat(before).doesNotContainNull();

        // When
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "1"))) {
            // Then
            assertThat(SUMS.stream().map(sum -> books.strings(sum).get(0)).toList())
                    .isEqualTo(before);
            assertThat(books.strings("select tableoid::regclass from transfer order by id"))
                    .startsWith(part("transfer", 1), part("transfer", 0), part("transfer", 0), "transfer_other");
            books.assertClean();

            // And it goes on: ids grow
            long last = books.longOf("select max(id) from transfer");
            engine.deposit("ann", 5);
            assertThat(books.longOf("select max(id) from transfer")).isGreaterThan(last);
            books.assertClean();
        }

        // And a server that starts when it is time makes a part
        String coming = part("packet_amounts", -2);
        books.execute("drop table " + coming);
        try (TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "1"))) {
            assertThat(books.strings("select to_regclass('" + coming + "')")).containsExactly(coming);
        }
    }

    private static String part(String table, int monthsAgo) {
        return table
                + YearMonth.now(ZoneOffset.UTC).minusMonths(monthsAgo).format(DateTimeFormatter.ofPattern("_yyyy_MM"));
    }

    private static final String ROWS = """
            do $$
            declare
                seed   constant bytea := decode(repeat('ab', 32), 'hex');
                ids    constant uuid[] := array[first_uuid(%s), first_uuid(now())];
                money  bigint;
                wallet bigint;
                escrow bigint;
                bob    bigint;
                foreign_id constant uuid := gen_random_uuid();
            begin
                insert into asset (code, scale, symbol) values ('CNY', 2, 'Y');
                insert into account (kind, owner, asset) values ('source', 'outside', 'CNY') returning id into money;
                insert into account (kind, owner, asset) values ('wallet', 'ann', 'CNY') returning id into wallet;
                insert into account (kind, owner, asset) values ('wallet', 'bob', 'CNY') returning id into bob;
                insert into account (kind, owner, asset) values ('escrow', ids[2]::text, 'CNY') returning id into escrow;
                insert into shard (id) values (0);

                insert into command (id, operation, actor, role, key) values (ids[1], 'deposit', 'backend', 'service', 'k1');
                insert into transfer (subject, debit, credit, amount, kind) values (ids[1], money, wallet, 1000, 'deposit');

                insert into packet_amounts values (ids[2], 0, array[40, 60]);
                insert into packet (id, shard, group_id, sender, kind, asset, amount, count, min, max, split, split_version, seed,
                                    commitment, luckiest, escrow, refund_to, opens_at, expires_at)
                values (ids[2], 0, 'family', 'ann', 'lucky', 'CNY', 100, 2, 1, 99, 'double-mean', 1, seed,
                        packet_commitment(ids[2], seed, 'CNY', 100, 2, 1, 99, 'double-mean', 1::smallint), 1, escrow, wallet,
                        now(), now() + interval '1 day');
                insert into command (id, operation, actor, role, key) values (ids[2], 'send', 'ann', 'user', 'k2');
                insert into transfer (subject, debit, credit, amount, kind) values (ids[2], wallet, escrow, 100, 'send');
                insert into transfer (subject, debit, credit, amount, kind, slot) values (ids[2], escrow, bob, 40, 'claim', 0);

                insert into command (id, operation, actor, role, key) values (foreign_id, 'deposit', 'backend', 'service', 'k3');
                insert into transfer (subject, debit, credit, amount, kind) values (foreign_id, money, bob, 7, 'deposit');

                insert into draw (id, shard, owner, mode, definition, seed, commitment, opens_at, closes_at)
                values (ids[1], 0, 'ann', 'weights', '{"prizes": []}', seed, seed, now() - interval '1 hour', now() + interval '1 day');
                insert into prize (draw, n, name, announced) values (ids[1], 1, 'thanks', false);
                insert into play (draw, seq, request, nth, round, at, prize, part, user_id)
                values (ids[1], 0, gen_random_uuid(), 1, 1, now(), 1, 0, 'bob');
                update draw set closes_at = now() - interval '1 minute', closed_at = now(),
                                final_table = '{"checked": true, "prizes": [{"prize": 1, "issued": 1}]}';
                insert into fulfilment (draw, seq, n, state, actor) values (ids[1], 0, 1, 'sent', 'backend');
            end
            $$
            """;
}
