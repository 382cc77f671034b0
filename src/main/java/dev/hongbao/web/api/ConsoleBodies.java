package dev.hongbao.web.api;

import dev.hongbao.common.json.JsonText;
import dev.hongbao.common.values.Caller;
import dev.hongbao.domain.books.Holders;
import dev.hongbao.domain.books.Turnover;
import dev.hongbao.domain.odds.ChiSquare;
import dev.hongbao.domain.odds.DrawDefinition;
import dev.hongbao.domain.odds.Prize;
import dev.hongbao.domain.odds.Simulation;
import dev.hongbao.domain.reconcile.Finding;
import dev.hongbao.domain.reconcile.ReconcileRuns;
import dev.hongbao.domain.reconcile.Reconciliation;
import dev.hongbao.engine.journal.QuarantineStore;
import dev.hongbao.engine.shard.ShardOwners;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The answers to the calls of {@code console.yaml}. */
public final class ConsoleBodies {
    private ConsoleBodies() {}

    /** The console's calls, as a list of {@code {"method":…,"path":…,"query":{name: schema},"body":schema}}. */
    public static String calls(Contract contract) {
        JsonArray calls = new JsonArray();
        for (Contract.Path path : contract.paths()) {
            for (Operation operation : path.operations()) {
                JsonObject query = new JsonObject();
                operation.parameters().query().forEach((name, schema) -> query.put(name, schema.json()));
                Operation.Body body = operation.body();
                calls.add(new JsonObject()
                        .put("method", operation.method().name())
                        .put("path", path.template())
                        .put("query", query)
                        .put("body", body == null ? null : body.schema().json()));
            }
        }
        return calls.encode();
    }

    /** @param calls as {@link #calls} gives them */
    public static String session(Caller caller, String calls) {
        return new JsonText(calls.length() + 128)
                .beginObject()
                .field("user", caller.user().value())
                .field("expiresAt", caller.expiresAt().toString())
                .name("calls")
                .raw(calls)
                .endObject()
                .toString();
    }

    public static String servers(List<ShardOwners.Server> servers) {
        return items(
                servers,
                (json, server) -> json.field("server", server.name())
                        .field("session", Integer.toString(server.session()))
                        .field("address", server.address())
                        .field("since", text(server.since()))
                        .field("shards", server.shards()));
    }

    public static String shards(List<ShardOwners.Owned> shards) {
        return items(
                shards,
                (json, shard) -> json.field("shard", shard.shard())
                        .field("server", shard.server())
                        .field("session", shard.session() == null ? null : Integer.toString(shard.session()))
                        .field("epoch", shard.epoch())
                        .field("settled", shard.settled())
                        .field("aside", shard.aside()));
    }

    /** @param users a page, by id */
    public static String users(List<Holders.Holder> users, int limit) {
        return items(
                users,
                (json, user) -> json.field("user", user.user()).field("wallets", user.wallets()),
                users.size() < limit ? null : users.get(limit - 1).user());
    }

    public static String turnover(List<Turnover.Sum> sums) {
        return items(
                sums,
                (json, sum) -> json.field("kind", sum.kind())
                        .field("asset", sum.asset())
                        .field("transfers", sum.transfers())
                        .field("amount", sum.amount()));
    }

    public static String quarantine(List<QuarantineStore.Listed> units) {
        return items(
                units,
                (json, unit) -> json.field("id", unit.unit().id().toString())
                        .field("kind", unit.unit().kind())
                        .field("shard", unit.shard())
                        .field("since", text(unit.since()))
                        .field("entries", unit.entries())
                        .field("held", unit.held())
                        .field("sqlState", unit.cause().sqlState())
                        .field("reason", unit.cause().reason()));
    }

    /** @param entries that were kept of it */
    public static String broughtBack(UUID unit, int entries) {
        return new JsonText(128)
                .beginObject()
                .field("id", unit.toString())
                .field("entries", entries)
                .endObject()
                .toString();
    }

    public static String reconciliation(ReconcileRuns.Run run) {
        JsonText json = new JsonText(4096)
                .beginObject()
                .field("startedAt", text(run.startedAt()))
                .field("endedAt", text(run.endedAt()))
                .field("failed", run.failed())
                .field("done", run.findings().size())
                .field("of", Reconciliation.steps())
                .name("findings")
                .beginArray();
        for (Finding finding : run.findings()) {
            json.beginObject()
                    .field("invariant", finding.invariant())
                    .field("name", finding.name())
                    .field(
                            "result",
                            finding.isClean() ? "ok" : finding.severity().name().toLowerCase(Locale.ROOT))
                    .name("lines")
                    .raw(new JsonArray(finding.lines()).encode())
                    .endObject();
        }
        return json.endArray().endObject().toString();
    }

    public static String simulation(DrawDefinition definition, Simulation.Outcome outcome) {
        JsonText json = new JsonText(4096)
                .beginObject()
                .field("plays", outcome.plays())
                .field("verdict", verdict(outcome.verdict()))
                .name("refused")
                .beginObject();
        outcome.refused().forEach((why, count) -> json.field(why.name().toLowerCase(Locale.ROOT), count));
        json.endObject().name("prizes").beginArray();
        List<Prize> prizes = definition.allPrizes();
        for (int i = 0; i < prizes.size(); i++) {
            json.beginObject()
                    .field("name", prizes.get(i).name())
                    .field("won", outcome.seen()[i])
                    .field("promised", String.format(Locale.ROOT, "%.1f", outcome.promised()[i]))
                    .endObject();
        }
        return json.endArray().endObject().toString();
    }

    private static String verdict(@Nullable ChiSquare verdict) {
        if (verdict == null) {
            return "none";
        }
        return verdict.isPlausible() ? "kept" : "not-kept";
    }

    private static @Nullable String text(@Nullable Instant time) {
        return time == null ? null : time.toString();
    }

    private static @Nullable String text(@Nullable OffsetDateTime time) {
        return time == null ? null : time.toInstant().toString();
    }

    /** All at once: they are few. */
    private static <T> String items(List<T> all, BiConsumer<JsonText, T> fields) {
        return items(all, fields, null);
    }

    private static <T> String items(List<T> all, BiConsumer<JsonText, T> fields, @Nullable String next) {
        JsonText json = new JsonText(1024).beginObject().name("items").beginArray();
        for (T each : all) {
            json.beginObject();
            fields.accept(json, each);
            json.endObject();
        }
        return json.endArray().field("next", next).endObject().toString();
    }
}
