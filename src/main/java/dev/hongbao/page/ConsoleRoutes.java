package dev.hongbao.page;

import dev.hongbao.draw.DrawBodies;
import dev.hongbao.draw.odds.Chance;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.Prize;
import dev.hongbao.draw.odds.Simulation;
import dev.hongbao.draw.odds.Simulation.ChiSquare;
import dev.hongbao.engine.QuarantineStore;
import dev.hongbao.engine.ShardOwners;
import dev.hongbao.http.Call;
import dev.hongbao.http.Contract;
import dev.hongbao.http.Contract.Operation;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.http.Reply;
import dev.hongbao.http.Schema;
import dev.hongbao.ledger.Turnover;
import dev.hongbao.ledger.Wallets;
import dev.hongbao.page.ManagementVerticle.ConsoleServices;
import dev.hongbao.reconcile.Reconciliation;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.values.Caller;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.Page;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.Uuids;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.pgclient.PgException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The calls of {@code console.yaml}. Confined to its event loop. */
final class ConsoleRoutes {
    private static final Logger LOG = LoggerFactory.getLogger(ConsoleRoutes.class);

    private static final long PLAYS = 100_000;
    private static final int USERS = 10_000;

    /** Limit of scheduled prizes in a simulation; each takes memory. */
    private static final long MAX_RELEASES = 1_000_000;

    /** Limit of a simulation's quota look-ups, each of which walks the boosts. */
    private static final long MAX_LOOKS = 5_000_000;

    private final Vertx vertx;
    private final String calls;
    private final ConsoleServices services;
    private final Set<String> busy = new HashSet<>();

    ConsoleRoutes(Vertx vertx, Contract contract, ConsoleServices services) {
        this.vertx = vertx;
        this.calls = calls(contract);
        this.services = services;
    }

    /** By {@code operationId}. */
    Map<String, Route> byOperation() {
        Map<String, Route> routes = new HashMap<>(Map.of(
                "getSession",
                call -> Future.succeededFuture(Reply.json(200, session(call.caller(), calls))),
                "listServers",
                call -> services.owners().servers().map(all -> Reply.json(200, servers(all))),
                "listShards",
                call -> services.owners().shards().map(all -> Reply.json(200, shards(all))),
                "listQuarantine",
                call -> services.quarantined().map(all -> Reply.json(200, quarantine(all))),
                "replayQuarantined",
                call -> bringBack(call, "replayed", services::replay),
                "voidQuarantined",
                call -> bringBack(call, "voided", services::drop),
                "getReconciliation",
                call -> Future.succeededFuture(Reply.json(
                        200, reconciliation(services.reconciliations().latest()))),
                "startReconciliation",
                call -> Future.succeededFuture(Reply.json(
                        202, reconciliation(services.reconciliations().start()))),
                "simulateDraw",
                this::simulate));
        routes.put("listUsers", this::users);
        routes.put("getTurnover", call -> services.turnover().map(all -> Reply.json(200, turnover(all))));
        return routes;
    }

    private Future<Reply> users(Call call) {
        String after = call.query().get("after") instanceof String given ? given : "";
        return services.users(after, call.limit()).map(page -> Reply.json(200, users(page)));
    }

    private Future<Reply> bringBack(Call call, String done, Function<UUID, Future<Integer>> work) {
        UUID unit = Uuids.parse(Objects.requireNonNull(call.path().get("unit")));
        if (unit == null) {
            throw InvalidInputException.of("path/unit", Text.of("console.unit"));
        }
        return alone("quarantine", () -> work.apply(unit))
                .recover(fault -> Future.failedFuture(
                        fault instanceof IllegalStateException || fault instanceof PgException
                                ? UnavailableException.setAside(
                                        Text.of("console.unchanged", String.valueOf(fault.getMessage())))
                                : fault))
                .map(entries -> {
                    if (entries < 0) {
                        throw new RefusedException(Refusal.NOT_FOUND, Text.of("console.not-set-aside"));
                    }
                    LOG.info(
                            "{} {} what was set aside of {}: {} entries",
                            call.caller().user(),
                            done,
                            unit,
                            entries);
                    return Reply.json(200, broughtBack(unit, entries));
                });
    }

    /** Runs one at a time, since each takes connections or a core. */
    private <T> Future<T> alone(String what, Supplier<Future<T>> work) {
        if (!busy.add(what)) {
            throw UnavailableException.overloaded(Text.of("console.busy"));
        }
        return Future.succeededFuture().compose(now -> work.get()).onComplete(ended -> busy.remove(what));
    }

    private Future<Reply> simulate(Call call) {
        JsonObject body = call.requiredBody();
        Instant now = services.clock().instant();
        DrawDefinition read = DrawBodies.definition(body.getJsonObject("definition"));
        read.requireOfNew();
        if (!now.isBefore(read.closesAt())) {
            throw InvalidInputException.of("#/definition/closesAt", Text.of("time.later"));
        }
        DrawDefinition definition = read.opensAt() == null ? read.openedAt(now) : read;
        assertIsSmall(definition);
        long plays = body.getLong("plays", PLAYS);
        Simulation simulation = new Simulation(definition, Chance.secure(), USERS);
        return alone("simulation", () -> vertx.executeBlocking(() -> simulation.run(plays, done -> {}), false))
                .map(outcome -> Reply.json(200, simulation(definition, outcome)));
    }

    private static void assertIsSmall(DrawDefinition definition) {
        DrawDefinition.Schedule schedule = definition.schedule();
        long looks = schedule == null
                ? 0
                : (long) definition.periods()
                        * definition.prizes().size()
                        * (1 + schedule.boosts().size());
        if (looks > MAX_LOOKS || releases(definition) > MAX_RELEASES) {
            throw new RefusedException(Refusal.INFEASIBLE, Reason.SCHEDULE, Text.of("simulation.too-long"));
        }
    }

    private static long releases(DrawDefinition definition) {
        long all = 0;
        for (Prize prize : definition.prizes()) {
            long ofPrize = 0;
            for (int period = 0; period < definition.periods(); period++) {
                ofPrize += definition.quota(prize, period);
            }
            Long stock = prize.stock();
            all += stock == null ? ofPrize : Math.min(stock, ofPrize);
        }
        return all;
    }

    // --- bodies ---

    /** The console's calls, as a list of {@code {"method":…,"path":…,"query":{name: schema},"body":schema}}. */
    private static String calls(Contract contract) {
        JsonArray calls = new JsonArray();
        for (Contract.Path path : contract.paths()) {
            for (Operation operation : path.operations()) {
                JsonObject query = new JsonObject();
                operation.query().forEach((name, schema) -> query.put(name, schema.json()));
                Schema body = operation.body();
                calls.add(new JsonObject()
                        .put("method", operation.method().name())
                        .put("path", path.template())
                        .put("query", query)
                        .put("body", body == null ? null : body.json()));
            }
        }
        return calls.encode();
    }

    /** @param calls as {@link #calls} gives them */
    private static String session(Caller caller, String calls) {
        return new JsonText(calls.length() + 128)
                .beginObject()
                .field("user", caller.user().value())
                .field("expiresAt", caller.expiresAt().toString())
                .name("calls")
                .raw(calls)
                .endObject()
                .toString();
    }

    private static String servers(List<ShardOwners.Server> servers) {
        return items(
                servers,
                (json, server) -> json.field("server", server.name())
                        .field("session", Integer.toString(server.session()))
                        .field("address", server.address())
                        .field("since", text(server.since()))
                        .field("shards", server.shards()));
    }

    private static String shards(List<ShardOwners.Owned> shards) {
        return items(
                shards,
                (json, shard) -> json.field("shard", shard.shard())
                        .field("server", shard.server())
                        .text("session", shard.session())
                        .field("epoch", shard.epoch())
                        .field("settled", shard.settled())
                        .field("aside", shard.aside()));
    }

    private static String users(Page<Wallets.Holder> page) {
        return items(
                page.items(),
                (json, user) -> json.field("user", user.user()).field("wallets", user.wallets()),
                page.next());
    }

    private static String turnover(List<Turnover.Sum> sums) {
        return items(
                sums,
                (json, sum) -> json.field("kind", sum.kind())
                        .field("asset", sum.asset())
                        .field("transfers", sum.transfers())
                        .field("amount", sum.amount()));
    }

    private static String quarantine(List<QuarantineStore.Listed> units) {
        return items(
                units,
                (json, unit) -> json.field("id", unit.unit().id().toString())
                        .field("kind", unit.unit().kind())
                        .field("shard", unit.mark().shard())
                        .field("since", text(unit.since()))
                        .field("entries", unit.entries())
                        .field("held", unit.held())
                        .field("sqlState", unit.mark().sqlState())
                        .field("reason", unit.mark().reason()));
    }

    /** @param entries that were kept of it */
    private static String broughtBack(UUID unit, int entries) {
        return new JsonText(128)
                .beginObject()
                .field("id", unit.toString())
                .field("entries", entries)
                .endObject()
                .toString();
    }

    private static String reconciliation(Reconciliation.Runs.Run run) {
        return new JsonText(4096)
                .beginObject()
                .text("startedAt", run.startedAt())
                .text("endedAt", run.endedAt())
                .field("failed", run.failed())
                .field("done", run.findings().size())
                .field("of", Reconciliation.steps())
                .objects("findings", run.findings(), ConsoleRoutes::finding)
                .endObject()
                .toString();
    }

    private static void finding(JsonText json, Finding finding) {
        json.field("invariant", finding.invariant())
                .field("name", finding.name())
                .field(
                        "result",
                        finding.isClean() ? "ok" : finding.severity().name().toLowerCase(Locale.ROOT))
                .name("lines")
                .raw(new JsonArray(finding.lines()).encode());
    }

    private static String simulation(DrawDefinition definition, Simulation.Outcome outcome) {
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

    private static @Nullable String text(@Nullable OffsetDateTime time) {
        return time == null ? null : time.toInstant().toString();
    }

    /** All at once: they are few. */
    private static <T> String items(List<T> all, BiConsumer<JsonText, T> fields) {
        return items(all, fields, null);
    }

    private static <T> String items(List<T> all, BiConsumer<JsonText, T> fields, @Nullable String next) {
        return new JsonText(1024)
                .beginObject()
                .objects("items", all, fields)
                .field("next", next)
                .endObject()
                .toString();
    }
}
