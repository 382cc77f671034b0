package dev.hongbao.reconcile;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestCampaigns.limited;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.Restrictions.Restriction;
import dev.hongbao.campaign.Campaign;
import dev.hongbao.campaign.Rain;
import dev.hongbao.draw.Draw;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestRains;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The audit finds what the host application was not told, was told twice, or was told and is not so: on forged books. */
class OutboxReconciliationIT extends ChecksContract {
    OutboxReconciliationIT() {
        super(OutboxChecks.ALL, List.of("alter table campaign disable trigger user"));
    }

    /** Campaigns: one goes on, one is paused, one is over. A rain and a draw that are over, and a draw that goes on, with a paid play. */
    @Override
    void writeBooks(TestEngine engine) {
        TestCampaigns campaigns = new TestCampaigns(engine);
        TestDraws draws = new TestDraws(engine);
        TestRains rains = new TestRains(engine);
        engine.deposit("shop", 20_000);
        Campaign.View raised = campaigns.create(limited(1000, 5, 2, 0, 1));
        Campaign.View paused = campaigns.create(limited(1000, 5, 2, 0, 1));
        Campaign.View over = campaigns.create(limited(1000, 5, 2, 0, 1));
        Packet pool = campaigns.open(raised, "ann", "shoe");
        engine.claim(pool, "bob");
        CampaignId id = raised.campaign().id();
        get(engine.loop(0).call(services -> services.campaigns.raise(TestDraws.SERVICE, id, 500, newKey())));
        CampaignId stopped = paused.campaign().id();
        get(engine.loop(0).call(services -> services.campaigns.pause(TestDraws.SERVICE, stopped)));
        get(engine.loop(0).call(services -> services.campaigns.resume(TestDraws.SERVICE, stopped)));
        get(engine.loop(0).call(services -> services.campaigns.pause(TestDraws.SERVICE, stopped)));
        campaigns.end(over.campaign().id());
        campaigns.awaitClosed(over);
        Rain.View rain = rains.create(TestRains.definition(60, 100, 1, 1));
        PacketId drop = rains.awaitFallen(rain, 1).fallen().get(0).packet();
        get(engine.claim(0, TestEngine.member("bob"), drop));
        rains.cancel(rain.rain().id());
        rains.awaitEnded(rain);
        var restrictions = engine.engine().restrictions;
        get(restrictions.place(
                new Restriction.Target(Restriction.Scope.USER, "eve", Restriction.Kind.FROZEN),
                new UserId("shop"),
                "a case"));
        draws.deposit("dan", TestDraws.POINTS, 10);
        Draw open = draws.create(
                "{name: open, mode: table, cost: {asset: POINTS, amount: 4}, prizes: [{name: nothing, count: 4}]}");
        get(draws.play(0, open, "dan"));
        get(engine.engine().wallets.withdraw(TestEngine.BACKEND, new UserId("dan"), TestDraws.POINTS, 6, newKey()));
        Draw closed = draws.create("{name: closed, mode: table, prizes: [{name: nothing, count: 4}]}");
        get(engine.loop(0).call(services -> services.draws.close(TestDraws.SERVICE, closed.id())));
        eventually(
                Duration.ofSeconds(15),
                () -> assertThat(new Books(servers()).longOf("select count(*) from draw where closed_at is not null"))
                        .isEqualTo(1));
    }

    /** What is old is removed: of that nothing can be missed. */
    @Test
    void whatMayHaveBeenRemovedIsNotMissed() throws Exception {
        String removed = "update outbox_state set floor = (select max(n) from outbox); delete from outbox where type"
                + " in ('campaign.created', 'rain.created', 'draw.closed', 'packet.sent', 'packet.drained',"
                + " 'packet.refunded', 'transfer.deposit', 'play.settled')";

        assertThat(found(removed)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "update outbox set events = events + 1 where type = 'claim.settled'",
                "delete from outbox where type = 'claim.settled'",
                "delete from outbox where type = 'claim.settled' and subjects[1] in"
                        + " (select o.packet from pool as o join rain as r on r.id = o.campaign)",
                "delete from outbox where type = 'campaign.created'",
                "delete from outbox where type = 'campaign.raised'",
                "delete from outbox where type = 'campaign.paused'",
                "delete from outbox where type = 'campaign.resumed'",
                "delete from outbox where type = 'campaign.ended'",
                "delete from outbox where type = 'rain.created'",
                "delete from outbox where type = 'rain.ended'",
                "delete from outbox where type = 'draw.closed'",
                "delete from outbox where type = 'draw.opened'",
                "delete from outbox where type = 'packet.expired'",
                "delete from outbox where type = 'user.frozen'",
                "insert into outbox (shard, type, subjects, firsts, events)"
                        + " select shard, type, subjects, firsts, events from outbox where type = 'user.frozen'",
                "update outbox set firsts = array[-1] where type = 'user.frozen'",
                "update outbox set type = 'campaign.paused' where type = 'campaign.ended'",
                "update outbox set subjects = array[gen_random_uuid()] where type = 'rain.ended'",
                "update outbox set firsts = array[-1] where type = 'campaign.raised'",
                "insert into outbox (shard, type, subjects, events) select shard, type, subjects, 1 from outbox where"
                        + " type = 'draw.closed'",
                "insert into outbox (shard, type, subjects, events) select -1, 'campaign.ended', array[id], 1 from"
                        + " campaign where closed_at is null",
                "delete from outbox where type = 'packet.sent'",
                "delete from outbox where type = 'packet.drained'",
                "delete from outbox where type = 'packet.refunded'",
                "update outbox set type = 'packet.drained' where type = 'packet.refunded'",
                "insert into outbox (shard, type, subjects, events) select shard, 'packet.drained', array[id], 1 from"
                        + " packet where closed_at is null",
                "insert into outbox (shard, type, subjects, events) select shard, type, subjects, events from outbox"
                        + " where type = 'packet.refunded'",
                "update outbox set events = events + 1 where type = 'packet.refunded'",
                "delete from outbox where type = 'transfer.deposit'",
                "delete from outbox where type = 'transfer.withdrawal'",
                "delete from outbox where type = 'transfer.cost'",
                "update outbox set type = 'transfer.withdrawal' where type = 'transfer.deposit'",
                "update outbox set subjects = array[gen_random_uuid()] where type = 'transfer.deposit'",
                "insert into outbox (shard, type, subjects, firsts, lasts, events) select shard, type, subjects,"
                        + " firsts, lasts, events from outbox where type = 'transfer.deposit'",
                "insert into outbox (shard, type, subjects, firsts, lasts, events) select -1, 'packet.sent',"
                        + " array[subject], array[id], array[id], 1 from transfer where kind = 'send' and not exists"
                        + " (select from outbox where subjects[1] = subject and type = 'packet.sent')",
                "delete from outbox where type = 'play.settled'",
                "update outbox set lasts = array[lasts[1] + 1], events = events + 1 where type = 'play.settled'",
                "insert into outbox (shard, type, subjects, firsts, lasts, events) select shard, type, subjects,"
                        + " firsts, lasts, events from outbox where type = 'play.settled'",
                "update campaign set paused_at = null",
                "update campaign set paused_at = now()"
            })
    void forgedBooksAreFound(String forgery) throws Exception {
        assertFound(forgery);
    }
}
