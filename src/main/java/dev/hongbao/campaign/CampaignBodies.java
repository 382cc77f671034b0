package dev.hongbao.campaign;

import dev.hongbao.values.Csv;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import java.util.List;

/** Campaigns as the contract's JSON, and as lines of a report. */
final class CampaignBodies {
    /** The first line of a CSV report. */
    public static final String CSV_HEADER = "day,product,pools,amount,claims,claimed,returned\r\n";

    private static final int LENGTH = 512;

    private CampaignBodies() {}

    public static String campaign(CampaignView view) {
        JsonText json = new JsonText(LENGTH);
        campaign(json, view);
        return json.toString();
    }

    /** Without its money, for users who open its pools. */
    public static String campaignForUsers(CampaignView view) {
        JsonText json = new JsonText(LENGTH);
        begin(json, view);
        times(json, view);
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
        begin(json, view);
        json.field("budget", view.budget()).field("left", view.left()).field("returned", view.returned());
        times(json, view);
    }

    private static void begin(JsonText json, CampaignView view) {
        json.beginObject()
                .plain("id", view.campaign().id().toString())
                .field("name", view.campaign().definition().name())
                .name("metadata")
                .raw(view.campaign().definition().metadata().json())
                .plain("asset", view.campaign().definition().asset().code())
                .plain("sponsor", view.campaign().sponsor().value())
                .plain("status", view.status().wireName());
        CampaignDefinition.PoolShape pool = view.campaign().definition().pool();
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

    private static void times(JsonText json, CampaignView view) {
        json.plain("opensAt", view.opensAt().toString())
                .plain("endsAt", view.endsAt().toString())
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
                        .field("amount", line.amount())
                        .field("claims", line.claims())
                        .field("claimed", line.claimed())
                        .field("returned", line.returned())
                        .endObject()
                + "\n";
    }

    /** A report line as CSV (RFC 4180), with its end. */
    public static String csvLine(CampaignReport line) {
        List<Object> cells = List.of(
                line.date(),
                Csv.cell(line.product()),
                line.pools(),
                line.amount(),
                line.claims(),
                line.claimed(),
                line.returned());
        return String.join(",", cells.stream().map(String::valueOf).toList()) + "\r\n";
    }
}
