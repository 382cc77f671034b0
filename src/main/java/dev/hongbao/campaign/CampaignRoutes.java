package dev.hongbao.campaign;

import dev.hongbao.access.RateLimits;
import dev.hongbao.http.Call;
import dev.hongbao.http.LinesReply;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Route;
import dev.hongbao.packet.PacketRoutes;
import dev.hongbao.values.Caller;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.Role;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Map;

/** The calls on campaigns. Confined to its event loop. */
public final class CampaignRoutes {
    private static final LinesReply.Form<CampaignReport> REPORT =
            new LinesReply.Form<>(CampaignBodies.CSV_HEADER, CampaignBodies::csvLine, CampaignBodies::jsonLine);

    private final CampaignService campaigns;
    private final RateLimits limits;

    public CampaignRoutes(CampaignService campaigns, RateLimits limits) {
        this.campaigns = campaigns;
        this.limits = limits;
    }

    /** By {@code operationId}, without the report, which lasts as long as its reader. */
    public Map<String, Route> byOperation() {
        return Map.of(
                "createCampaign",
                this::create,
                "listCampaigns",
                this::list,
                "getCampaign",
                this::get,
                "openPool",
                this::open,
                "pauseCampaign",
                call -> view(campaigns.pause(call.caller(), call.campaign()), 200),
                "resumeCampaign",
                call -> view(campaigns.resume(call.caller(), call.campaign()), 200),
                "endCampaign",
                call -> view(campaigns.end(call.caller(), call.campaign()), 202),
                "raiseBudget",
                this::raise);
    }

    private static Future<Reply> view(Future<CampaignView> asked, int status) {
        return asked.map(view -> Reply.json(status, CampaignBodies.campaign(view)));
    }

    private Future<Reply> create(Call call) {
        return campaigns
                .create(call.caller(), call.requiredBody(), call.requiredKey())
                .map(view -> Reply.json(
                        201,
                        CampaignBodies.campaign(view),
                        "Location",
                        "/v1/campaigns/" + view.campaign().id()));
    }

    private Future<Reply> get(Call call) {
        Caller caller = call.caller();
        return campaigns
                .view(caller, call.campaign())
                .map(view -> Reply.json(
                        200,
                        caller.role() == Role.SERVICE
                                ? CampaignBodies.campaign(view)
                                : CampaignBodies.campaignForUsers(view)));
    }

    private Future<Reply> list(Call call) {
        String sponsor = call.query("sponsor");
        return campaigns
                .list(
                        call.caller(),
                        sponsor == null ? null : new UserId(sponsor),
                        call.choice("status", CampaignView.Status.class),
                        call.cursor(),
                        call.limit())
                .map(page -> Reply.json(200, CampaignBodies.campaigns(page)));
    }

    private Future<Reply> raise(Call call) {
        long amount = call.requiredBody().getLong("amount");
        return view(campaigns.raise(call.caller(), call.campaign(), amount, call.requiredKey()), 200);
    }

    private Future<Reply> open(Call call) {
        JsonObject body = call.requiredBody();
        GroupId group = new GroupId(body.getString("group"));
        Metadata metadata = Metadata.ofJson(body.getJsonObject("metadata"));
        return campaigns
                .shares(call.campaign())
                .compose(shares -> limits.mayIssue(call.caller(), shares))
                .compose(allowed -> campaigns.open(
                        call.caller(), call.campaign(), body.getString("product"), group, metadata, call.requiredKey()))
                .map(PacketRoutes::sent);
    }

    public Future<Reply> report(Call call) {
        return campaigns
                .view(call.caller(), call.campaign())
                .compose(view -> LinesReply.write(
                        call,
                        REPORT.with(view.campaign().definition().metadata()),
                        page -> campaigns.report(call.caller(), call.campaign(), page)));
    }
}
