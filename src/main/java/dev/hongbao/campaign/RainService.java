package dev.hongbao.campaign;

import dev.hongbao.access.Restrictions;
import dev.hongbao.campaign.Campaign.Definition.PoolShape;
import dev.hongbao.campaign.Rain.Definition.Fall;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.engine.Generation;
import dev.hongbao.engine.KeyLoader;
import dev.hongbao.engine.Settlements.Audience;
import dev.hongbao.engine.Shards;
import dev.hongbao.ledger.Idempotency;
import dev.hongbao.ledger.Ledger;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.PacketService;
import dev.hongbao.packet.PacketService.PoolBatch;
import dev.hongbao.packet.SendCommand;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.store.postgres.SharedQueries;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Page;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.StrictJson;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Rains. One instance per event loop; call it on that loop. A drop is claimed like any packet. */
public final class RainService {
    /** Sorts after every rain's id: the start of a list. */
    private static final CampaignId NEWEST = new CampaignId(new UUID(-1, -1));

    /** The most rains in a group's list; a screen shows no more. */
    private static final int MOST_CURRENT = 50;

    private final Vertx vertx;
    private final Shards shards;
    private final RainCatalog catalog;
    private final KeyLoader loading;
    private final PacketService packets;
    private final Restrictions restrictions;
    private final Clock clock;
    private final Idempotency idempotency;
    private final SecureRandom random = new SecureRandom();
    private final SharedQueries<CampaignId, Rain.@Nullable View> views = new SharedQueries<>();
    private final SharedQueries<GroupId, List<Rain.View>> lists = new SharedQueries<>();

    /**
     * @param packets of this event loop
     * @param clock for early refusals only; Postgres' clock decides what is due
     */
    public RainService(
            Vertx vertx,
            Pool pool,
            Shards shards,
            RainCatalog catalog,
            KeyLoader loading,
            PacketService packets,
            Restrictions restrictions,
            Clock clock) {
        this.vertx = vertx;
        this.shards = shards;
        this.catalog = catalog;
        this.loading = loading;
        this.packets = packets;
        this.restrictions = restrictions;
        this.clock = clock;
        this.idempotency = new Idempotency(pool);
    }

    /**
     * Makes a rain: moves its budget from the caller's wallet into its drops, and draws their moments. Idempotent by (caller, key).
     *
     * @param body fits the contract's {@code RainDefinition}
     * @return fails with {@link InvalidInputException} when the definition breaks a rule; refused with INSUFFICIENT_FUNDS, and with
     *     NOT_ELIGIBLE for a plain user
     */
    public Future<Rain.View> create(Caller caller, JsonObject body, IdempotencyKey key) {
        return forService(caller, () -> {
            JsonObject stored = Rain.Definition.stored(body, clock.instant());
            Rain.Definition definition = Rain.Definition.read(stored);
            definition.require(clock.instant(), packets.limits());
            return create(caller, definition, body, stored, key).compose(id -> view(caller, id));
        });
    }

    /**
     * A rain to be made.
     *
     * @param stored its definition, see {@link Rain.Definition#stored}
     */
    private record NewRain(Rain rain, JsonObject stored, Seed seed, PoolBatch drops) {}

    /**
     * One transaction makes the campaign, the transfer of its budget into its escrow, all drops and the announcement.
     *
     * @param body the sponsor's definition, for the comparison of repetitions
     * @param stored the definition as it is stored
     */
    private Future<CampaignId> create(
            Caller sponsor, Rain.Definition definition, JsonObject body, JsonObject stored, IdempotencyKey key) {
        var scope = Idempotency.Scope.of(sponsor, "rain", key, StrictJson.sorted(body));
        return vertx.executeBlocking(() -> prepare(sponsor.user(), definition, stored), false)
                .compose(fresh -> idempotency
                        .once(
                                scope,
                                tx -> restrictions // for a new rain only; a repeated command gets its first answer
                                        .requireOpen(definition.members().groups())
                                        .compose(open -> Ledger.command(
                                                tx, fresh.rain.id().value(), scope))
                                        .compose(noted -> insert(tx, fresh))
                                        .map(generation -> new Idempotency.Done<>(
                                                fresh.rain.id().value(), generation)))
                        .compose(made -> {
                            Generation generation = made.fresh();
                            CampaignId id = new CampaignId(made.subject());
                            return generation == null
                                    ? Future.succeededFuture(id)
                                    : load(fresh, generation).map(id);
                        }));
    }

    private NewRain prepare(UserId sponsor, Rain.Definition definition, JsonObject stored) {
        CampaignId id = CampaignId.create();
        Seed seed = Seed.drawn(random);
        Fall fall = definition.fall();
        Rain rain = new Rain(
                id,
                shards.shardFor(id.value()),
                sponsor,
                definition,
                seed.commitment(id.value(), fall.startsAt(), fall.lastAt(), fall.drops()));
        return new NewRain(rain, stored, seed, PoolBatch.of(drops(rain, seed), random));
    }

    private static List<SendCommand> drops(Rain rain, Seed seed) {
        Rain.Definition definition = rain.definition();
        Fall fall = definition.fall();
        PoolShape shape = fall.drop();
        Packet.Kind kind = shape.split() == SplitAlgorithm.EQUAL ? Packet.Kind.EQUAL : Packet.Kind.LUCKY;
        List<SendCommand> drops = new ArrayList<>(fall.drops());
        for (Instant moment : seed.moments(fall.startsAt(), fall.lastAt(), fall.drops())) {
            long amount = fall.amountOf(drops.size(), definition.budget());
            drops.add(SendCommand.of(rain.channel(), kind, definition.asset(), amount, shape.shares())
                    .shares(shape.min(), shape.max())
                    .split(shape.split())
                    .opensAt(moment)
                    .expiresIn(Duration.between(moment, fall.endsAt()))
                    .pool(rain.drop(drops.size() + 1))
                    .build());
        }
        return drops;
    }

    /** Returns the shard's generation, locked until the transaction ends. */
    private Future<Generation> insert(SqlConnection tx, NewRain fresh) {
        Rain rain = fresh.rain;
        Rain.Definition definition = rain.definition();
        NewCampaign campaign = new NewCampaign(
                rain.id(),
                NewCampaign.Kind.RAIN,
                rain.sponsor(),
                null,
                definition.fall().endsAt(),
                definition.claiming().zone(),
                fresh.stored);
        return RainCatalog.isAhead(tx, definition.fall().startsAt())
                .compose(ahead -> ahead
                        ? shards.hold(tx, rain.shard())
                        : Future.failedFuture(InvalidInputException.of("#/startsAt", Text.of("time.after-now"))))
                .compose(generation -> campaign.insert(tx, rain.shard())
                        .compose(paid -> RainCatalog.insert(tx, rain, fresh.seed))
                        .compose(made -> fresh.drops.send(tx))
                        .compose(sent -> RainCatalog.announce(tx, rain.id()))
                        .map(generation));
    }

    private Future<Void> load(NewRain fresh, Generation generation) {
        vertx.eventBus().publish(Audience.NUDGE, null);
        return CampaignShardLoader.load(loading, generation, fresh.rain.id())
                .compose(loaded -> fresh.drops.load(loading, generation));
    }

    /** The rain's current state, for its audience and the host application. Refused with NOT_FOUND, or NOT_ELIGIBLE for others. */
    public Future<Rain.View> view(Caller caller, CampaignId id) {
        return catalog.find(id)
                .compose(RainService::orNotFound)
                .compose(rain -> caller.role() == Role.SERVICE || rain.isFor(caller)
                        ? known(id).compose(view -> withMine(view, caller.user()))
                        : Refusal.NOT_ELIGIBLE.failure(Reason.GROUP, Text.of("rain.other-groups")));
    }

    /** The rain with its drops, without any user's catches. Concurrent calls share the queries. */
    private Future<Rain.View> known(CampaignId id) {
        return views.ask(id, () -> read(id)).compose(RainService::orNotFound);
    }

    private Future<Rain.@Nullable View> read(CampaignId id) {
        return catalog.view(id)
                .compose(view -> view == null
                        ? Future.succeededFuture()
                        : catalog.fallen(id).map(view::with));
    }

    private Future<Rain.View> withMine(Rain.View view, UserId user) {
        return catalog.caught(List.of(view.rain().id()), user)
                .map(mine -> view.caughtBy(mine.getOrDefault(view.rain().id(), List.of())));
    }

    /**
     * The current rains for a group's members: rains announced in the group, and public ones. With the caller's catches, without drops.
     *
     * @return earliest first, at most {@value #MOST_CURRENT}; refused with NOT_ELIGIBLE for a caller who may not follow the group
     */
    public Future<List<Rain.View>> current(Caller caller, GroupId group) {
        return catalog.members(group)
                .compose(members -> members.include(caller)
                        ? lists.ask(group, () -> catalog.current(group, MOST_CURRENT))
                                .compose(views -> withMine(views, caller.user()))
                        : Refusal.NOT_ELIGIBLE.failure(Reason.GROUP, Text.of("group.not-followed")));
    }

    private Future<List<Rain.View>> withMine(List<Rain.View> views, UserId user) {
        List<CampaignId> begun = views.stream()
                .filter(view -> view.status() != Rain.View.Status.PLANNED)
                .map(view -> view.rain().id())
                .toList();
        return begun.isEmpty()
                ? Future.succeededFuture(views)
                : catalog.caught(begun, user)
                        .map(mine -> views.stream()
                                .map(view -> view.caughtBy(
                                        mine.getOrDefault(view.rain().id(), List.of())))
                                .toList());
    }

    /**
     * Rains without their drops, newest first.
     *
     * @param sponsor null for all
     * @param status null for all
     * @param cursor a page's {@code next}; null for the first page
     */
    public Future<Page<Rain.View>> list(
            Caller caller,
            @Nullable UserId sponsor,
            Rain.View.@Nullable Status status,
            @Nullable String cursor,
            int limit) {
        CampaignId before = cursor == null ? NEWEST : CampaignId.parse(cursor);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        return forService(caller, () -> catalog.list(sponsor, status, before, limit));
    }

    /** Cancels a rain. No more drops fall, and the uncaught money is returned within seconds. Idempotent; changes nothing after the end. */
    public Future<Rain.View> cancel(Caller caller, CampaignId id) {
        return forService(
                caller,
                () -> catalog.find(id)
                        .compose(RainService::orNotFound)
                        .compose(rain -> catalog.cancel(id))
                        .compose(
                                cancelled -> read(id)) // not shared: a concurrent read may have begun before the cancel
                        .compose(RainService::orNotFound)
                        .compose(view -> withMine(view, caller.user())));
    }

    private static <T> Future<T> orNotFound(@Nullable T found) {
        return found == null ? Refusal.NOT_FOUND.failure(Text.of("rain.not-found")) : Future.succeededFuture(found);
    }

    private static <T> Future<T> forService(Caller caller, Supplier<Future<T>> work) {
        return CampaignService.forService(caller, Text.of("rain.only-backend"), work);
    }
}
