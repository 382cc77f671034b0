package dev.hongbao.web.http;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Reason;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UnavailableException;
import dev.hongbao.common.values.Uuids;
import dev.hongbao.domain.odds.Chance;
import dev.hongbao.domain.odds.DefinitionChecks;
import dev.hongbao.domain.odds.DrawDefinition;
import dev.hongbao.domain.odds.Prize;
import dev.hongbao.domain.odds.Simulation;
import dev.hongbao.web.api.ConsoleBodies;
import dev.hongbao.web.api.Contract;
import dev.hongbao.web.api.DrawBodies;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.pgclient.PgException;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The calls of {@code console.yaml}. Confined to its event loop. */
public final class ConsoleRoutes {
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

    public ConsoleRoutes(Vertx vertx, Contract contract, ConsoleServices services) {
        this.vertx = vertx;
        this.calls = ConsoleBodies.calls(contract);
        this.services = services;
    }

    /** By {@code operationId}. */
    public Map<String, Route> byOperation() {
        Map<String, Route> routes = new HashMap<>(Map.of(
                "getSession",
                call -> Future.succeededFuture(Reply.json(200, ConsoleBodies.session(call.caller(), calls))),
                "listServers",
                call -> services.owners().servers().map(all -> Reply.json(200, ConsoleBodies.servers(all))),
                "listShards",
                call -> services.owners().shards().map(all -> Reply.json(200, ConsoleBodies.shards(all))),
                "listQuarantine",
                call -> services.quarantined().map(all -> Reply.json(200, ConsoleBodies.quarantine(all))),
                "replayQuarantined",
                call -> bringBack(call, "replayed", services::replay),
                "voidQuarantined",
                call -> bringBack(call, "voided", services::drop),
                "getReconciliation",
                call -> Future.succeededFuture(Reply.json(
                        200,
                        ConsoleBodies.reconciliation(services.reconciliations().latest()))),
                "startReconciliation",
                call -> Future.succeededFuture(Reply.json(
                        202,
                        ConsoleBodies.reconciliation(services.reconciliations().start()))),
                "simulateDraw",
                this::simulate));
        routes.put("listUsers", this::users);
        routes.put("getTurnover", call -> services.turnover().map(all -> Reply.json(200, ConsoleBodies.turnover(all))));
        return routes;
    }

    private Future<Reply> users(Call call) {
        String after = call.query().get("after") instanceof String given ? given : "";
        int limit = call.limit();
        return services.users(after, limit).map(page -> Reply.json(200, ConsoleBodies.users(page, limit)));
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
                    return Reply.json(200, ConsoleBodies.broughtBack(unit, entries));
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
        DefinitionChecks.requireOfNew(read);
        if (!now.isBefore(read.closesAt())) {
            throw InvalidInputException.of("#/definition/closesAt", Text.of("time.later"));
        }
        DrawDefinition definition = read.opensAt() == null ? read.openedAt(now) : read;
        assertIsSmall(definition);
        long plays = body.getLong("plays", PLAYS);
        Simulation simulation = new Simulation(definition, Chance.secure(), USERS);
        return alone("simulation", () -> vertx.executeBlocking(() -> simulation.run(plays, done -> {}), false))
                .map(outcome -> Reply.json(200, ConsoleBodies.simulation(definition, outcome)));
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
}
