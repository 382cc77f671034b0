package dev.hongbao.testing;

import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static dev.hongbao.testing.TestEngine.newKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.campaign.Campaign;
import dev.hongbao.campaign.CampaignService.CampaignReport;
import dev.hongbao.packet.Packet;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Makes campaigns on an engine, and opens their pools. */
public final class TestCampaigns {
    private static final Duration IN_TIME = Duration.ofSeconds(20);

    private final TestEngine engine;

    public TestCampaigns(TestEngine engine) {
        this.engine = engine;
    }

    /** A definition: an hour long, pools of {@code shares} equal shares of 10. */
    public static JsonObject definition(long budget, int shares) {
        return new JsonObject()
                .put("name", "Shoes")
                .put("asset", "CNY")
                .put("budget", budget)
                .put("endsAt", Instant.now().plusSeconds(3600).toString())
                .put(
                        "pool",
                        new JsonObject()
                                .put("shares", shares)
                                .put("amount", 10L * shares)
                                .put("split", "equal")
                                .put("livesSeconds", 600));
    }

    /** The same with limits: claims a user may have in all, a day, a product; 0 for none. */
    public static JsonObject limited(long budget, int shares, int total, int aDay, int aProduct) {
        JsonObject claiming = new JsonObject();
        if (total > 0) {
            claiming.put("total", total);
        }
        if (aDay > 0) {
            claiming.put("aDay", aDay);
        }
        if (aProduct > 0) {
            claiming.put("aProduct", aProduct);
        }
        return definition(budget, shares).put("claiming", claiming);
    }

    public Campaign.View create(JsonObject definition) {
        return get(engine.loop(0).call(services -> services.campaigns.create(TestDraws.SERVICE, definition, newKey())));
    }

    public Campaign.View view(CampaignId id) {
        return get(engine.loop(0).call(services -> services.campaigns.view(TestDraws.SERVICE, id)));
    }

    /** Until what was left of its budget is returned. */
    public void awaitClosed(Campaign.View campaign) {
        Eventually.eventually(
                IN_TIME,
                () -> assertThat(view(campaign.campaign().id()).status()).isEqualTo(Campaign.View.Status.CLOSED));
    }

    public static void assertRefused(Refusal why, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        RefusedException.class,
                        refused -> assertThat(refused.refusal()).isEqualTo(why));
    }

    public Campaign.View end(CampaignId id) {
        return get(engine.loop(0).call(services -> services.campaigns.end(TestDraws.SERVICE, id)));
    }

    /** Opens a pool with a key of its own. */
    public Packet open(Campaign.View campaign, String user, String product) {
        return get(opening(0, campaign, user, product));
    }

    public Future<Packet> opening(int loop, Campaign.View campaign, String user, String product) {
        return engine.loop(loop)
                .call(services -> services.campaigns.open(
                        member(user), campaign.campaign().id(), product, GROUP, Metadata.NONE, newKey()));
    }

    /** All lines of the report. */
    public List<CampaignReport> report(CampaignId id) {
        List<CampaignReport> lines = new ArrayList<>();
        get(engine.loop(0)
                .call(services -> services.campaigns.report(TestDraws.SERVICE, id, page -> {
                    lines.addAll(page);
                    return Future.succeededFuture();
                })));
        return lines;
    }
}
