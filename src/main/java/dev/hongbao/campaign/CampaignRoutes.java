package dev.hongbao.campaign;

import dev.hongbao.access.RateLimits;
import dev.hongbao.campaign.CampaignService.CampaignReport;
import dev.hongbao.http.Call;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Reply.LinesReply;
import dev.hongbao.packet.PacketBodies;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.Page;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;

/** The calls on campaigns. Confined to its event loop. */
final class CampaignRoutes {
    /** The first line of a CSV report. */
    private static final String CSV_HEADER = "day,product,pools,amount,claims,claimed,returned\r\n";

    private static final int LENGTH = 512;

    private static final LinesReply.Form<CampaignReport> REPORT =
            new LinesReply.Form<>(CSV_HEADER, CampaignRoutes::csvLine, CampaignRoutes::jsonLine);

    private final CampaignService campaigns;
    private final RateLimits limits;

    private CampaignRoutes(CampaignService campaigns, RateLimits limits) {
        this.campaigns = campaigns;
        this.limits = limits;
    }

    /** The routes of campaigns and rains, by {@code operationId}. The report lasts as long as its reader. */
    static Map<String, Route> of(CampaignService campaigns, RainService rains, RateLimits limits, HttpFace face) {
        CampaignRoutes ofCampaigns = new CampaignRoutes(campaigns, limits);
        Map<String, Route> routes = face.counted(ofCampaigns.byOperation());
        routes.putAll(face.counted(new OfRains(rains).byOperation()));
        routes.put("reportCampaign", ofCampaigns::report);
        return routes;
    }

    /** By {@code operationId}, without the report, which lasts as long as its reader. */
    private Map<String, Route> byOperation() {
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

    private static Future<Reply> view(Future<Campaign.View> asked, int status) {
        return asked.map(view -> Reply.json(status, campaign(view)));
    }

    private Future<Reply> create(Call call) {
        return campaigns
                .create(call.caller(), call.requiredBody(), call.requiredKey())
                .map(view -> Reply.json(
                        201,
                        campaign(view),
                        "Location",
                        "/v1/campaigns/" + view.campaign().id()));
    }

    private Future<Reply> get(Call call) {
        Caller caller = call.caller();
        return campaigns
                .view(caller, call.campaign())
                .map(view -> Reply.json(200, caller.role() == Role.SERVICE ? campaign(view) : campaignForUsers(view)));
    }

    private Future<Reply> list(Call call) {
        String sponsor = call.query("sponsor");
        return campaigns
                .list(
                        call.caller(),
                        sponsor == null ? null : new UserId(sponsor),
                        call.choice("status", Campaign.View.Status.class),
                        call.cursor(),
                        call.limit())
                .map(page -> Reply.json(200, campaigns(page)));
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
                .map(PacketBodies::sent);
    }

    private Future<Reply> report(Call call) {
        return campaigns
                .view(call.caller(), call.campaign())
                .compose(view -> LinesReply.write(
                        call,
                        REPORT.with(view.campaign().definition().metadata()),
                        page -> campaigns.report(call.caller(), call.campaign(), page)));
    }

    // --- bodies ---

    private static String campaign(Campaign.View view) {
        return JsonText.of(LENGTH, view, CampaignRoutes::campaign);
    }

    /** Without its money, for users who open its pools. */
    private static String campaignForUsers(Campaign.View view) {
        JsonText json = new JsonText(LENGTH);
        begin(json, view);
        times(json, view);
        return json.toString();
    }

    private static String campaigns(Page<Campaign.View> page) {
        return JsonText.page(page, LENGTH, CampaignRoutes::campaign);
    }

    private static void campaign(JsonText json, Campaign.View view) {
        begin(json, view);
        json.field("budget", view.budget()).field("left", view.left()).field("returned", view.returned());
        times(json, view);
    }

    private static void begin(JsonText json, Campaign.View view) {
        json.beginObject()
                .plain("id", view.campaign().id().toString())
                .field("name", view.campaign().definition().name())
                .name("metadata")
                .raw(view.campaign().definition().metadata().json())
                .plain("asset", view.campaign().definition().asset().code())
                .plain("sponsor", view.campaign().sponsor().value())
                .plain("status", view.status().wireName());
        Campaign.Definition.PoolShape pool = view.campaign().definition().pool();
        json.name("pool")
                .beginObject()
                .field("shares", pool.shares())
                .name("amount")
                .beginObject()
                .field("from", pool.amountFrom())
                .field("to", pool.amountTo())
                .endObject()
                .plain("split", pool.split().wireName())
                .field("livesSeconds", pool.life().toSeconds())
                .endObject();
    }

    private static void times(JsonText json, Campaign.View view) {
        json.plain("opensAt", view.opensAt().toString())
                .plain("endsAt", view.endsAt().toString())
                .text("pausedAt", view.pausedAt())
                .endObject();
    }

    /** A line of a report as a line of JSON lines, with its end. */
    private static String jsonLine(CampaignReport line) {
        return new JsonText(LENGTH)
                        .beginObject()
                        .plain("day", line.date().toString())
                        .plain("product", line.product())
                        .field("pools", line.pools())
                        .field("amount", line.amount())
                        .field("claims", line.claims())
                        .field("claimed", line.claimed())
                        .field("returned", line.returned())
                        .endObject()
                + "\n";
    }

    /** A report line as CSV (RFC 4180), with its end. */
    private static String csvLine(CampaignReport line) {
        List<Object> cells = List.of(
                line.date(),
                LinesReply.cell(line.product()),
                line.pools(),
                line.amount(),
                line.claims(),
                line.claimed(),
                line.returned());
        return String.join(",", cells.stream().map(String::valueOf).toList()) + "\r\n";
    }

    /** The calls on rains. Confined to its event loop. */
    private static final class OfRains {
        private static final int LENGTH = 1024;
        private static final int DROP_LENGTH = 128;

        private final RainService rains;

        OfRains(RainService rains) {
            this.rains = rains;
        }

        /** By {@code operationId}. */
        private Map<String, Route> byOperation() {
            return Map.of(
                    "createRain",
                    this::create,
                    "listRains",
                    this::list,
                    "listCurrentRains",
                    call -> rains.current(call.caller(), call.group()).map(views -> Reply.json(200, current(views))),
                    "getRain",
                    call -> view(rains.view(call.caller(), call.rain()), 200),
                    "cancelRain",
                    call -> view(rains.cancel(call.caller(), call.rain()), 202));
        }

        private static Future<Reply> view(Future<Rain.View> asked, int status) {
            return asked.map(view -> Reply.json(status, rain(view)));
        }

        private Future<Reply> create(Call call) {
            return rains.create(call.caller(), call.requiredBody(), call.requiredKey())
                    .map(view -> Reply.json(
                            201,
                            rain(view),
                            "Location",
                            "/v1/rains/" + view.rain().id()));
        }

        private Future<Reply> list(Call call) {
            String sponsor = call.query("sponsor");
            return rains.list(
                            call.caller(),
                            sponsor == null ? null : new UserId(sponsor),
                            call.choice("status", Rain.View.Status.class),
                            call.cursor(),
                            call.limit())
                    .map(page -> Reply.json(200, rains(page)));
        }

        // --- bodies ---

        /** A rain with its drops and the viewer's catches. */
        private static String rain(Rain.View view) {
            JsonText json = new JsonText(LENGTH + DROP_LENGTH * view.fallen().size()).beginObject();
            fields(json, view);
            json.objects(
                    "fallen",
                    view.fallen(),
                    (out, drop) -> out.plain("packet", drop.packet().toString())
                            .plain("at", drop.fellAt().toString())
                            .field("amount", drop.amount())
                            .field("over", drop.over()));
            mine(json, view);
            return json.endObject().toString();
        }

        /** A group's current rains, without their drops, with the viewer's catches. */
        private static String current(List<Rain.View> views) {
            return new JsonText(LENGTH * (views.size() + 1))
                    .beginObject()
                    .objects("items", views, (json, view) -> {
                        fields(json, view);
                        mine(json, view);
                    })
                    .endObject()
                    .toString();
        }

        private static void mine(JsonText json, Rain.View view) {
            json.items("mine", view.mine(), (out, claim) -> out.raw(PacketBodies.claim(claim)));
        }

        private static String rains(Page<Rain.View> page) {
            return JsonText.page(page, LENGTH, (json, view) -> {
                fields(json.beginObject(), view);
                json.endObject();
            });
        }

        private static void fields(JsonText json, Rain.View view) {
            Rain rain = view.rain();
            Rain.Definition definition = rain.definition();
            json.plain("id", rain.id().toString())
                    .plain("sponsor", rain.sponsor().value())
                    .field("name", definition.name())
                    .name("metadata")
                    .raw(definition.metadata().json())
                    .plain("asset", definition.asset().code())
                    .plain("status", view.status().wireName())
                    .field("budget", definition.budget())
                    .field("everyone", definition.members().everyone())
                    .name("groups")
                    .raw(new JsonArray(definition.members().groups().stream()
                                    .map(GroupId::value)
                                    .sorted()
                                    .toList())
                            .encode())
                    .plain("channel", rain.channel().value());
            rain.writeTerms(json);
            json.plain("endsAt", view.endsAt().toString())
                    .text("cancelledAt", view.cancelledAt())
                    .name("caught")
                    .beginObject()
                    .field("count", view.caught().shares())
                    .field("amount", view.caught().amount())
                    .endObject()
                    .field("returned", view.caught().returned())
                    .field("seed", view.seed());
        }
    }
}
