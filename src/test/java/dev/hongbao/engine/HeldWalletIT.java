package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.campaign.Campaign;
import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Somebody holds the wallet that money goes back to: only that money waits. All is of one shard, so that whatever waited in a settlement
 * would hold up every claim.
 */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HeldWalletIT {
    private static final Duration IN_TIME = Duration.ofSeconds(15);

    private TestServers servers;
    private TestEngine engine;
    private TestCampaigns campaigns;
    private TestDraws draws;
    private Books books;
    private int users;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        engine = TestEngine.start(servers, 1, Map.of("shards", "1", "claim.settle-timeout", "2s"));
        campaigns = new TestCampaigns(engine);
        draws = new TestDraws(engine);
        engine.deposit("alice", 1_000_000);
        engine.deposit("sam", 1_000_000);
        engine.deposit("shop", 1_000_000);
        draws.deposit("shop", TestDraws.POINTS, 1_000);
        draws.deposit("vera", TestDraws.POINTS, 1_000);
    }

    @AfterAll
    void stop() {
        engine.close();
        books.assertReconciled();
    }

    private Connection hold(String account) throws SQLException {
        return TestDatabase.lockRows(servers.postgresOwnerUrl(), "account where " + account);
    }

    private void othersClaim() {
        Packet packet = engine.send("alice", 100, 20);
        for (int i = 0; i < 20; i++) {
            assertThat(engine.claim(packet, "u" + users++).kind()).isEqualTo(Kind.CLAIMED);
        }
    }

    private List<String> told(Packet packet) {
        return books.strings(
                "select e.type from group_event as e where e.subject = '" + packet.id() + "' order by e.seq");
    }

    private long toldTheHost(Packet packet) {
        return books.longOf("select count(*) from outbox where type = 'packet.refunded' and '" + packet.id()
                + "' = any (subjects)");
    }

    private long refunds(Object subject) {
        return books.longOf("select count(*) from transfer where kind = 'refund' and subject = '" + subject + "'");
    }

    @Test
    void aRefundWaitsForItsWalletAndNothingElseDoes() throws SQLException {
        // Given a packet of which something is left
        long before = engine.balance("sam");
        Packet packet = engine.send("sam", 1_000, 2);
        long claimed = engine.claim(packet, "bob").wonClaim().amount();
        try (Connection holder = hold("owner = 'sam'")) {
            // When its time runs out while somebody holds the sender's wallet
            books.expire(packet);

            // Then it closes, everybody else claims, and the money is in the escrow
            books.awaitClosed(packet);
            othersClaim();
            assertThat(books.longOf("select balance from account where owner = '" + packet.id() + "'"))
                    .isEqualTo(1_000 - claimed);
            assertThat(books.longOf("select count(*) from refund_due where packet = '" + packet.id() + "'"))
                    .isOne();
            assertThat(engine.claim(packet, "carol").kind()).isEqualTo(Kind.EXPIRED);
            assertThat(told(packet)).endsWith("packet.expired");
            assertThat(toldTheHost(packet)).isZero();
            books.assertClean();
            assertThat(holder.isClosed()).isFalse();
        }

        // When the wallet is free, then it is paid, once, and told
        eventually(IN_TIME, () -> assertThat(told(packet)).endsWith("packet.expired", "packet.refunded"));
        assertThat(engine.balance("sam")).isEqualTo(before - claimed);
        assertThat(refunds(packet.id())).isOne();
        assertThat(toldTheHost(packet)).isOne();
        assertThat(books.longOf("select count(*) from refund_due")).isZero();
    }

    @Test
    void refundsOfOneHeldWalletDoNotKeepThoseOfAnother() throws SQLException {
        // Given a packet each of two senders; the wallet that is looked at first is held for longer
        Packet first = engine.send("alice", 1_000, 2);
        Packet second = engine.send("sam", 1_000, 2);
        try (Connection longer = hold("owner = 'alice'")) {
            try (Connection shorter = hold("owner = 'sam'")) {
                books.expire(first);
                books.expire(second);
                books.awaitClosed(first);
                books.awaitClosed(second);
                assertThat(shorter.isClosed()).isFalse();
            }

            // Then
            eventually(IN_TIME, () -> assertThat(refunds(second.id())).isOne());
            assertThat(refunds(first.id())).isZero();
            assertThat(longer.isClosed()).isFalse();
        }
        eventually(IN_TIME, () -> assertThat(refunds(first.id())).isOne());
    }

    @Test
    void aCampaignWaitsForTheRefundsOfItsPools() throws SQLException {
        // Given a pool of which nothing is claimed
        long before = engine.balance("shop");
        Campaign.View campaign = campaigns.create(TestCampaigns.definition(1_000, 5));
        Packet pool = campaigns.open(campaign, "opener", "shoe");
        try (Connection holder = hold("owner = '" + campaign.campaign().id() + "'")) {
            // When the campaign ends while somebody holds its escrow
            campaigns.end(campaign.campaign().id());
            books.awaitClosed(pool);
            othersClaim();

            // Then
            assertThat(campaigns.view(campaign.campaign().id()).status()).isEqualTo(Campaign.View.Status.ENDING);
            books.assertClean();
            assertThat(holder.isClosed()).isFalse();
        }
        campaigns.awaitClosed(campaign);
        assertThat(engine.balance("shop")).isEqualTo(before);
    }

    @Test
    void aCampaignWaitsForItsHostsWalletAndNothingElseDoes() throws SQLException {
        // Given
        long before = engine.balance("shop");
        Campaign.View campaign = campaigns.create(TestCampaigns.definition(1_000, 5));
        Packet packet = engine.send("alice", 100, 2);
        try (Connection holder = hold("owner = 'shop' and asset = 'CNY'")) {
            // When
            campaigns.end(campaign.campaign().id());
            books.expire(packet);

            // Then
            books.awaitClosed(packet);
            eventually(IN_TIME, () -> assertThat(refunds(packet.id())).isOne());
            othersClaim();
            assertThat(campaigns.view(campaign.campaign().id()).status()).isEqualTo(Campaign.View.Status.ENDING);
            assertThat(holder.isClosed()).isFalse();
        }
        campaigns.awaitClosed(campaign);
        assertThat(engine.balance("shop")).isEqualTo(before);
    }

    @Test
    void aDrawWaitsForItsOwnersWalletAndNothingElseDoes() throws SQLException {
        // Given a draw with a prize of money, and what was paid for a play
        Draw draw = draws.create("{mode: table, cost: {asset: POINTS, amount: 10},"
                + " prizes: [{name: gold, count: 2, award: {asset: POINTS, amount: 100}}]}");
        assertThat(get(draws.play(0, draw, "vera"))).isInstanceOf(PlayOutcome.class);
        try (Connection holder = hold("owner = 'shop' and asset = 'POINTS'")) {
            // When
            books.execute("update draw set closes_at = now() where id = '" + draw.id() + "'");

            // Then the owner writes its end, and others claim
            long last = books.longOf("select last_seq from shard");
            eventually(
                    IN_TIME,
                    () -> assertThat(books.longOf("select last_seq from shard")).isGreaterThan(last));
            othersClaim();
            assertThat(books.longOf("select count(*) from draw where closed_at is null and id = '" + draw.id() + "'"))
                    .isOne();
            assertThat(holder.isClosed()).isFalse();
        }

        // When the wallet is free, and the shard's owner begins anew: else it writes the end again after five seconds
        get(engine.engine().stopWriter());
        get(engine.engine().startWriter());

        // Then
        eventually(
                IN_TIME,
                () -> assertThat(books.longOf(
                                "select count(*) from draw where closed_at is null and id = '" + draw.id() + "'"))
                        .isZero());
        assertThat(books.longOf("select sum(balance) from account where owner = '" + draw.id() + "'"))
                .isZero();
    }
}
