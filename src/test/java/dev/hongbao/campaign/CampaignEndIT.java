package dev.hongbao.campaign;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestCampaigns.definition;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A campaign's rest goes back to its host exactly once, whatever fails at its end. */
class CampaignEndIT {
    private static final Duration IN_TIME = Duration.ofSeconds(15);
    private static final long BUDGET = 100_007;

    private static void awaitClosed(Books books) {
        eventually(
                IN_TIME,
                () -> assertThat(books.longOf("select count(*) from campaign where closed_at is null"))
                        .isZero());
    }

    @Test
    void anEndIsFinishedByTheServersThatStartLater() {
        try (TestServers own = Servers.fresh()) {
            // Given a campaign with open pools, some of them claimed from, that is ended as the last server stops
            Books books = new Books(own);
            long claimed = 0;
            try (TestEngine engine = TestEngine.start(own, 2, Map.of())) {
                TestCampaigns campaigns = new TestCampaigns(engine);
                engine.deposit("shop", BUDGET);
                Campaign.View campaign = campaigns.create(definition(BUDGET, 5));
                for (int i = 0; i < 30; i++) {
                    Packet pool = campaigns.open(campaign, "opener" + i, "shoe");
                    claimed += engine.claim(pool, "bob").wonClaim().amount();
                }
                get(engine.engine().stopWriter());
                campaigns.end(campaign.campaign().id());
            }
            assertThat(books.longOf("select count(*) from campaign where closed_at is not null"))
                    .isZero();

            // When two servers start, and each would close
            try (TestEngine one = TestEngine.start(own, 1, Map.of());
                    TestEngine two = TestEngine.start(own, 1, Map.of())) {
                awaitClosed(books);

                // Then
                assertThat(one.balance("shop")).isEqualTo(BUDGET - claimed);
                assertThat(two.balance("bob")).isEqualTo(claimed);
            }
            assertThat(books.longOf("select count(*) from transfer as t join campaign as c on c.id = t.subject"
                            + " where t.kind = 'refund'"))
                    .isEqualTo(1);
            books.assertReconciled();
        }
    }

    /** Many campaigns of one moment must not hold up the owner's other work. */
    @Test
    void allEndedCampaignsTogetherMoveAPageOfPools() {
        try (TestServers own = Servers.fresh();
                TestEngine engine = TestEngine.start(own, 1, Map.of("shards", "1"))) {
            // Given two ended campaigns, each with three open pools
            Books books = new Books(own);
            TestCampaigns campaigns = new TestCampaigns(engine);
            engine.deposit("shop", 2 * BUDGET);
            for (int i = 0; i < 2; i++) {
                Campaign.View campaign = campaigns.create(definition(BUDGET, 5));
                for (int j = 0; j < 3; j++) {
                    campaigns.open(campaign, "opener" + j, "shoe");
                }
            }
            get(engine.engine().stopWriter());
            books.execute("update campaign set ends_at = now(), pools_go_on = true");

            // When
            String ended = "select end_pools(array(select id from campaign), 4)";
            books.execute(ended);

            // Then
            String left = "select count(*) from packet where expires_at > now()";
            assertThat(books.longOf(left)).isEqualTo(2);

            // When
            books.execute(ended);

            // Then
            assertThat(books.longOf(left)).isZero();
            assertThat(books.longOf("select count(*) from campaign where pools_go_on"))
                    .isZero();
        }
    }

    /** Else the end of a campaign with millions of pools would exceed the time of a statement, again and again. */
    @Test
    void theEndOfACampaignReadsNothingThatIsClosed() throws SQLException {
        try (TestServers own = Servers.fresh();
                TestEngine engine = TestEngine.start(own, 1, Map.of("shards", "1"))) {
            // Given closed campaigns, open ones, and an ended one with a pool, of 30, that is open
            Books books = new Books(own);
            TestCampaigns campaigns = new TestCampaigns(engine);
            engine.deposit("shop", BUDGET);
            Campaign.View campaign = campaigns.create(definition(BUDGET, 5));
            Packet open = campaigns.open(campaign, "opener", "shoe");
            for (int i = 1; i < 30; i++) {
                campaigns.open(campaign, "opener" + i, "shoe");
            }
            get(engine.engine().stopWriter());
            books.execute("alter table packet disable trigger user; update packet set closed_at = now() where id <> '"
                    + open.id() + "'; alter table packet enable trigger user;"
                    + " update campaign set ends_at = now(), pools_go_on = true; analyze packet");
            books.execute("with made as (insert into account (kind, owner, asset)"
                    + " select 'escrow', gen_random_uuid(), 'CNY' from generate_series(1, 5000) returning id)"
                    + " insert into campaign (id, kind, shard, sponsor, name, asset, zone, definition, escrow, refund_to,"
                    + " budget, opens_at, ends_at, closed_at) select gen_random_uuid(), kind, shard, sponsor, name, asset,"
                    + " zone, '{}', made.id, refund_to, budget, opens_at,"
                    + " opens_at + made.id % 2 * interval '1 hour', case when made.id % 2 = 0 then now() end"
                    + " from campaign, made; analyze campaign");
            String closes = "select close_campaigns(array[0]::smallint[])";

            // When its last pool is ended, and it is looked at once more
            try (Connection connection = TestDatabase.begin(own.postgresOwnerUrl(), closes);
                    Statement statement = connection.createStatement()) {
                statement.execute(closes);
                ResultSet read = statement.executeQuery("select sum(seq_tup_read + idx_tup_fetch)"
                        + " from pg_stat_xact_user_tables where relname in ('packet', 'pool', 'campaign')");
                read.next();

                // Then
                assertThat(read.getLong(1)).isBetween(4L, 30L);
            }
        }
    }

    @Test
    void aPoolOfTheLastMomentIsPaidBackBeforeTheCampaignIs() throws SQLException {
        TestServers servers = Servers.fresh();
        Books books = new Books(servers);
        try (servers;
                TestEngine engine = TestEngine.start(servers, 1, Map.of("shards", "1"))) {
            TestCampaigns campaigns = new TestCampaigns(engine);
            engine.deposit("shop", BUDGET);
            long before = engine.balance("shop");
            Campaign.View campaign = campaigns.create(definition(BUDGET, 5));
            String row = "campaign where id = '" + campaign.campaign().id() + "'";
            Packet pool = campaigns.open(campaign, "opener", "shoe");

            // Given a campaign that has ended, and a pool of its last moment whose transaction is not committed
            get(engine.engine().stopWriter());
            books.execute(
                    "create table uncommitted as select * from pool; create table uncommitted_packet as table packet;"
                            + " alter table pool disable trigger user; delete from pool; alter table pool enable trigger user;"
                            + " delete from packet; update campaign set ends_at = now()");
            CompletableFuture<Long> closed;
            try (Connection opener = TestDatabase.lockRows(servers.postgresOwnerUrl(), row);
                    Statement insert = opener.createStatement()) {
                insert.execute(
                        "alter table packet disable trigger user; insert into packet select * from uncommitted_packet;"
                                + " alter table packet enable trigger user; insert into pool select * from uncommitted");

                // When the campaign is to be closed
                closed = CompletableFuture.supplyAsync(
                        () -> books.longOf("select count(*) from close_campaigns(array[0]::smallint[])"));
                eventually(
                        IN_TIME,
                        () -> assertThat(books.longOf(
                                        "select count(*) from pg_locks where not granted and pid in (select"
                                                + " pid from pg_stat_activity where datname ="
                                                + " current_database())"))
                                .isOne());
                opener.commit();
            }

            // Then it waits for the pool, and all goes back to the host
            assertThat(closed.join()).isZero();
            books.expire(pool);
            get(engine.engine().startWriter());
            campaigns.awaitClosed(campaign);
            assertThat(engine.balance("shop")).isEqualTo(before);
            books.assertClean();
        }
    }
}
