package dev.hongbao.packet;

import static dev.hongbao.testing.TestCampaigns.assertRefused;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.campaign.Campaign;
import dev.hongbao.campaign.Rain;
import dev.hongbao.engine.Loop;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.server.Services;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestRains;
import dev.hongbao.testing.TwoEngines;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/** The host's backend cancels packets that nobody has claimed, and closes others before their time (invariants I1, I8). */
class EarlyCloseIT extends TwoEngines {
    private static final UserId HELEN = new UserId("helen@support");

    @Override
    protected void assertBooks() {
        books.assertJournalsEmpty();
        super.assertBooks();
    }

    private Packet send(String sender, long amount, int count) {
        engine.deposit(sender, amount);
        return engine.send(sender, amount, count);
    }

    private static Future<Void> cancel(TestEngine server, PacketId packet) {
        return server.loop(1).call(services -> ends(server, services).cancel(packet, HELEN));
    }

    private static Future<Void> close(TestEngine server, PacketId packet) {
        return server.loop(0).call(services -> ends(server, services).close(packet, HELEN));
    }

    /** On the current loop. */
    private static EarlyEnds ends(TestEngine server, Services services) {
        return new EarlyEnds(
                server.engine().packets, Loop.of(Vertx.currentContext().owner()), services.redis);
    }

    private PacketFiles.Filed filed(Packet packet) {
        return get(engine.engine().packets.files.find(packet.id()));
    }

    private long refunds(PacketId packet) {
        return books.longOf("select count(*) from transfer where kind = 'refund' and subject = '" + packet + "'");
    }

    private List<String> events(Packet packet) {
        return books.strings("select type from group_event where subject = '" + packet.id() + "' order by seq");
    }

    private List<String> toldStatus(Packet packet) {
        return books.strings("select e.data::json ->> 'status' from outbox as o"
                + " cross join lateral outbox_events(o.type, array[o.shard], array[o.n]) as e"
                + " where o.type = 'packet.refunded' and e.subject = '" + packet.id() + "'");
    }

    @Test
    void aPacketThatNobodyHasClaimedIsCancelled() {
        // Given
        Packet packet = send("ann", 1000, 5);
        assertThat(engine.balance("ann")).isZero();

        // When, and again
        get(cancel(engine, packet.id()));
        get(cancel(other, packet.id()));
        get(close(other, packet.id()));

        // Then all of it is back, once, and the books say who asked for it
        assertThat(engine.balance("ann")).isEqualTo(1000);
        assertThat(refunds(packet.id())).isEqualTo(1);
        PacketFiles.Filed filed = filed(packet);
        assertThat(filed.view().status()).isEqualTo(PacketView.Status.CANCELLED);
        assertThat(filed.view().seed()).hasSize(64);
        assertThat(filed)
                .returns(0L, PacketFiles.Filed::held)
                .returns(1000L, PacketFiles.Filed::refunded)
                .returns(new UserId("ann"), PacketFiles.Filed::sentBy)
                .returns(HELEN, PacketFiles.Filed::endedBy)
                .satisfies(file -> assertThat(file.closedAt()).isNotNull());
        assertThat(get(other.loop(0).call(services -> services.packets.view(member("bob"), packet.id())))
                        .status())
                .isEqualTo(PacketView.Status.CANCELLED);

        // Then nobody gets a share of it, and group and host are told
        assertThat(engine.claim(packet, "bob").kind()).isEqualTo(Kind.EXPIRED);
        assertThat(get(other.claim(0, packet, "bob")).kind()).isEqualTo(Kind.EXPIRED);
        assertThat(events(packet)).containsExactly("packet.sent", "packet.refunded");
        assertThat(toldStatus(packet)).containsExactly("cancelled");
    }

    @Test
    void aPacketWithAClaimIsNotCancelledButClosed() {
        // Given
        Packet packet = send("bea", 1000, 5);
        long claimed = engine.claim(packet, "bob").wonClaim().amount();

        // When, then
        assertRefused(Refusal.CLAIMED, () -> get(cancel(other, packet.id())));
        assertThat(engine.claim(packet, "carl").kind()).isEqualTo(Kind.CLAIMED);
        get(close(other, packet.id()));

        // Then what was claimed stands
        long carls = engine.claim(packet, "carl").wonClaim().amount();
        assertThat(engine.balance("bea")).isEqualTo(1000 - claimed - carls);
        assertThat(filed(packet).view())
                .returns(PacketView.Status.CLOSED, PacketView::status)
                .returns(claimed + carls, PacketView::claimedAmount)
                .returns(null, PacketView::luckiest);
        assertThat(engine.claim(packet, "bob").kind()).isEqualTo(Kind.ALREADY_CLAIMED);
        assertThat(engine.claim(packet, "dora").kind()).isEqualTo(Kind.EXPIRED);
        assertRefused(Refusal.CLAIMED, () -> get(cancel(engine, packet.id())));
        assertThat(toldStatus(packet)).containsExactly("closed");
        assertThat(events(packet)).endsWith("packet.refunded").doesNotContain("packet.expired");
    }

    @Test
    void whatIsOverStaysAsItIs() {
        // Given one that is drained, and one whose time ran out
        Packet drained = send("cleo", 100, 1);
        assertThat(engine.claim(drained, "bob").kind()).isEqualTo(Kind.CLAIMED);
        Packet expired = send("cleo", 100, 1);
        books.expire(expired);
        books.awaitClosed(expired);

        // When
        get(close(engine, drained.id()));
        get(close(engine, expired.id()));
        get(cancel(engine, expired.id()));

        // Then
        assertThat(filed(drained).view().status()).isEqualTo(PacketView.Status.DRAINED);
        assertThat(filed(expired).view().status()).isEqualTo(PacketView.Status.REFUNDED);
        assertThat(filed(expired).endedBy()).isNull();
        assertRefused(Refusal.CLAIMED, () -> get(cancel(engine, drained.id())));
        assertRefused(Refusal.NOT_FOUND, () -> get(cancel(engine, PacketId.create())));
    }

    @Test
    void theRemainderOfAPoolGoesBackIntoItsCampaign() {
        // Given
        TestCampaigns campaigns = new TestCampaigns(engine);
        Campaign.View campaign = campaigns.create(TestCampaigns.limited(1000, 5, 1, 0, 0));
        Packet cancelled = campaigns.open(campaign, "ida", "sku-1");
        Packet closed = campaigns.open(campaign, "ida", "sku-2");
        assertThat(engine.claim(closed, "bob").kind()).isEqualTo(Kind.CLAIMED);

        // When
        get(cancel(other, cancelled.id()));
        get(close(other, closed.id()));

        // Then
        assertThat(campaigns.view(campaign.campaign().id()).left()).isEqualTo(1000 - 10);
        assertThat(filed(closed).sentBy()).isEqualTo(new UserId("ida"));
        campaigns.end(campaign.campaign().id());
        campaigns.awaitClosed(campaign);
        assertThat(campaigns.view(campaign.campaign().id()).returned()).isEqualTo(990);
    }

    @Test
    void aDropThatIsClosedBeforeItFallsIsNeverHeardOf() {
        // Given a rain of which the first drop is cancelled before it falls, and the next closed after
        TestRains rains = new TestRains(engine);
        Rain.View rain = rains.create(TestRains.definition(2, 12, 2, 12));
        String id = rain.rain().id().toString();
        List<String> drops = books.strings("select p.id from pool as o join packet as p on p.id = o.packet"
                + " where o.campaign = '" + id + "' order by p.opens_at");
        PacketId never = PacketId.parse(drops.get(0));
        get(cancel(other, never));
        rains.awaitFallen(rain, 1);
        get(close(engine, PacketId.parse(drops.get(1))));

        // When all others have fallen, and the time has passed in which a drop of a server that is gone is announced
        rains.awaitFallen(rain, 11);
        Rain.View ended = rains.awaitEnded(rain);

        // Then
        assertThat(ended.fallen().stream().map(Rain.View.Drop::packet))
                .doesNotContain(never)
                .hasSize(11);
        assertThat(books.strings("select type from group_event where subject = '" + never + "'"))
                .isEmpty();
        assertThat(ended.caught().returned()).isEqualTo(240);
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            assertThat(redis.keys("*" + never)).isEmpty();
        }
    }

    @Test
    void anExclusivePacketAndOneThatOpensLaterAreCancelled() {
        // Given
        engine.deposit("jim", 600);
        Packet exclusive = engine.send(
                "jim",
                SendCommand.of(GROUP, Packet.Kind.EXCLUSIVE, CNY, 300, 2)
                        .recipients(List.of(new UserId("bob"), new UserId("carl")))
                        .build());
        Packet later = engine.send(
                "jim",
                SendCommand.of(GROUP, Packet.Kind.LUCKY, CNY, 300, 2)
                        .opensAt(Instant.now().plusSeconds(3600))
                        .build());

        // When
        get(cancel(engine, exclusive.id()));
        get(cancel(other, later.id()));

        // Then
        assertThat(engine.balance("jim")).isEqualTo(600);
        assertThat(filed(exclusive).view().packet().recipients()).hasSize(2);
        assertThat(engine.claim(exclusive, "bob").kind()).isEqualTo(Kind.EXPIRED);
        assertThat(engine.claim(later, "bob").kind()).isIn(Kind.NOT_OPEN_YET, Kind.EXPIRED);
    }
}
