package dev.hongbao.reconcile;

import static dev.hongbao.testing.TestCampaigns.limited;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.campaign.Campaign;
import dev.hongbao.campaign.Rain;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestRains;
import dev.hongbao.values.PacketId;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The audit finds what is wrong with campaigns and rains: each check is seen failing on forged books. */
class CampaignReconciliationIT extends ChecksContract {
    private Rain.View raining;

    CampaignReconciliationIT() {
        super(
                Stream.concat(CampaignChecks.CAMPAIGNS.stream(), CampaignChecks.RAINS.stream())
                        .toList(),
                List.of(
                        "alter table transfer disable trigger user",
                        "alter table packet disable trigger user",
                        "alter table pool disable trigger user",
                        "alter table packet drop constraint packet_is_committed",
                        "alter table rain drop constraint rain_is_committed"));
    }

    /**
     * A campaign that goes on, and one that is closed. A rain of five minutes, one that was cancelled, and one that is over; a share of each
     * is caught.
     */
    @Override
    void writeBooks(TestEngine engine) {
        TestCampaigns campaigns = new TestCampaigns(engine);
        TestRains rains = new TestRains(engine);
        engine.deposit("shop", 30_000);
        Rain.View over = rains.create(TestRains.definition(3, 30, 1, 1));
        Rain.View cancelled = rains.create(TestRains.definition(300, 150, 1, 1));
        raining = rains.create(TestRains.definition(300, 150, 1, 1));
        Campaign.View open = campaigns.create(limited(1000, 5, 2, 0, 1));
        Campaign.View closed = campaigns.create(limited(1000, 5, 2, 0, 1));
        for (Campaign.View campaign : List.of(open, closed)) {
            for (String product : List.of("shoe", "hat")) {
                Packet pool = campaigns.open(campaign, "ann", product);
                engine.claim(pool, "bob");
            }
        }
        campaigns.end(closed.campaign().id());
        for (Rain.View rain : List.of(over, cancelled, raining)) {
            PacketId drop = rains.awaitFallen(rain, 1).fallen().get(0).packet();
            get(engine.claim(0, TestEngine.member("bob"), drop));
        }
        rains.cancel(cancelled.rain().id());
        rains.awaitEnded(cancelled);
        rains.awaitEnded(over);
        campaigns.awaitClosed(closed);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "update campaign set budget = budget + 1 where closed_at is null",
                "update account set balance = balance + 1 where id in (select escrow from campaign)",
                "update packet set closed_at = null, refund = 0 where id in"
                        + " (select o.packet from pool as o join campaign as c on c.id = o.campaign where c.closed_at is not null)",
                "update packet set shard = (shard + 1) % 4 where id in (select packet from pool)",
                "update packet set refund_to = (select id from account where owner = 'bob' and kind = 'wallet')"
                        + " where id in (select packet from pool)",
                "update transfer set debit = (select id from account where owner = 'bob') where kind = 'fund'",
                "update campaign set sponsor = 'eve'",
                "delete from pool",
                "update campaign set returned = returned - 1 where closed_at is not null",
                "update transfer set credit = (select id from account where owner = 'bob') where kind = 'refund'"
                        + " and subject in (select id from campaign)",
                "update pool set product = 'shoe'",
                "update campaign set definition = jsonb_set(definition, '{claiming,total}', '1')",
                "update campaign set definition = jsonb_set(definition, '{claiming,aProduct}', '0')",
                "update campaign set definition = jsonb_set(definition, '{claiming,aDay}', '0')",
                "update campaign set opens_at = now() - interval '1 day', ends_at = now() - interval '1 hour' where closed_at is null",
                "update packet set amount = amount + 1, max = amount + 1 where group_id like 'rain:%'",
                "update rain set drops = drops + 1",
                "update packet set group_id = 'family' where group_id like 'rain:%'",
                "update packet set expires_at = expires_at + interval '1 second' where group_id like 'rain:%'",
                "update packet set opens_at = opens_at - interval '2 hours' where group_id like 'rain:%'",
                "update campaign set definition = jsonb_set(definition, '{claiming,total}', '9')",
                "update campaign set kind = 'campaign'",
                "update rain set caught = 10000",
                "update rain set ended = not ended"
            })
    void forgedBooksAreFound(String forgery) throws Exception {
        assertFound(forgery);
    }

    /** Bob has a claim on each of two pools. */
    @ParameterizedTest
    @CsvSource({
        "0, 0, 1, true, 'both on the second day'",
        "1, 0, 1, false, 'one on each day'",
        "1, 1, 1, false, 'one on the first day, and one on either'",
        "1, 0, 0, true, 'on two days more than none'",
        "0, 0, 2, false, 'as many as the limit'",
    })
    void aClaimCountsForADayOnWhichItWasMade(int opened, int settled, int limit, boolean isFound, String what)
            throws Exception {
        Check ofADay = CampaignChecks.CAMPAIGNS.stream()
                .filter(check -> check.name().contains("on a day"))
                .findFirst()
                .orElseThrow();
        TestDatabase.rolledBack(servers().postgresOwnerUrl(), statement -> {
            // Given pools that were opened, and shoes that were claimed, so many days before the second day, at noon
            statement.execute("alter table transfer disable trigger user; alter table packet disable trigger user");
            statement.execute("update campaign set zone = 'Asia/Shanghai',"
                    + " definition = jsonb_set(definition, '{claiming,aDay}', '" + limit + "')");
            String noon = "timestamptz '2026-02-17 12:00:00+08'";
            statement.execute("update packet set created_at = " + noon + " - interval '9 days', opens_at = " + noon
                    + " - interval '" + opened + " days' where id in (select packet from pool)");
            statement.execute("update transfer set at = " + noon + " where slot is not null");
            statement.execute(
                    "update transfer set at = " + noon + " - interval '" + settled + " days' where slot is not null"
                            + " and subject in (select packet from pool where product = 'shoe')");

            // When, then
            assertThat(statement.executeQuery(ofADay.sql()).next()).as(what).isEqualTo(isFound);
        });
    }

    @Test
    void aMomentThatTheSeedDoesNotGiveIsFound() {
        // Given
        Books books = new Books(servers());
        String move =
                "update packet set opens_at = opens_at %s interval '1 millisecond' where id = (select max(packet::text)::uuid"
                        + " from pool where campaign = '" + raining.rain().id() + "')";

        // When
        books.execute(move.formatted("-"));
        List<String> found = audit();
        books.execute(move.formatted("+"));

        // Then
        assertThat(found).anySatisfy(line -> assertThat(line).contains("other moments"));
    }

    @Test
    void aSeedThatTheCommitmentDoesNotFitIsRefused() {
        Books books = new Books(servers());
        assertThatThrownBy(() -> books.execute("update rain set seed = sha256('other')"))
                .hasStackTraceContaining("rain_is_committed");
    }
}
