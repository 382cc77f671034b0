package dev.hongbao.web.api;

import dev.hongbao.common.json.JsonText;
import dev.hongbao.common.values.Page;
import dev.hongbao.domain.campaign.CampaignReport;
import dev.hongbao.domain.campaign.CampaignView;
import java.util.List;

/** Campaigns as the contract's JSON, and as lines of a report. */
public final class CampaignBodies {
    /** The first line of a CSV report. */
    public static final String CSV_HEADER = "day,product,pools,amount,claims,claimed,returned\r\n";

    private static final int LENGTH = 512;

    private CampaignBodies() {}

    public static String campaign(CampaignView view) {
        JsonText json = new JsonText(LENGTH);
        campaign(json, view);
        return json.toString();
    }

    public static String campaigns(Page<CampaignView> page) {
        JsonText json = new JsonText(LENGTH * (page.items().size() + 1))
                .beginObject()
                .name("items")
                .beginArray();
        page.items().forEach(view -> campaign(json, view));
        return json.endArray().field("next", page.next()).endObject().toString();
    }

    private static void campaign(JsonText json, CampaignView view) {
        json.beginObject()
                .plain("id", view.campaign().id().toString())
                .field("name", view.campaign().definition().name())
                .plain("asset", view.campaign().definition().asset().code())
                .plain("status", view.status().wireName())
                .field("budget", view.money().budget())
                .field("left", view.money().left())
                .field("returned", view.money().returned())
                .plain("opensAt", view.times().opensAt().toString())
                .plain("endsAt", view.times().endsAt().toString())
                .field(
                        "pausedAt",
                        view.pausedAt() == null ? null : view.pausedAt().toString())
                .endObject();
    }

    /** A line of a report as a line of JSON lines, with its end. */
    public static String jsonLine(CampaignReport line) {
        return new JsonText(LENGTH)
                        .beginObject()
                        .plain("day", line.date().toString())
                        .plain("product", line.product())
                        .field("pools", line.pools())
                        .field("amount", line.money().amount())
                        .field("claims", line.claims())
                        .field("claimed", line.money().claimed())
                        .field("returned", line.money().returned())
                        .endObject()
                + "\n";
    }

    /** The same as a line of CSV (RFC 4180), with its end. */
    public static String csvLine(CampaignReport line) {
        List<Object> cells = List.of(
                line.date(),
                DrawBodies.csv(line.product()),
                line.pools(),
                line.money().amount(),
                line.claims(),
                line.money().claimed(),
                line.money().returned());
        return String.join(",", cells.stream().map(String::valueOf).toList()) + "\r\n";
    }
}
