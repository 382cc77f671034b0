package dev.hongbao.domain.rain;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.GroupId;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.Page;
import dev.hongbao.common.values.Reason;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.campaign.CampaignId;
import dev.hongbao.domain.packet.PacketService;
import dev.hongbao.domain.restriction.Restrictions;
import dev.hongbao.engine.journal.KeyLoader;
import dev.hongbao.engine.postgres.SharedQueries;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Pool;
import java.time.Clock;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Rains. One instance per event loop; call it on that loop. A drop is claimed like any packet. */
public final class RainService {
    /** Sorts after every rain's id: the start of a list. */
    private static final CampaignId NEWEST = new CampaignId(new UUID(-1, -1));

    /** The most rains in a group's list; a screen shows no more. */
    private static final int MOST_CURRENT = 50;

    private final RainStore store;
    private final RainCatalog catalog;
    private final RainCreator creating;
    private final PacketService packets;
    private final Clock clock;
    private final SharedQueries<CampaignId, @Nullable RainView> views = new SharedQueries<>();
    private final SharedQueries<GroupId, List<RainView>> lists = new SharedQueries<>();

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
        this.store = catalog.store();
        this.catalog = catalog;
        this.creating = new RainCreator(vertx, pool, shards, loading, restrictions);
        this.packets = packets;
        this.clock = clock;
    }

    /**
     * Makes a rain: moves its budget from the caller's wallet into its drops, and draws their moments. Idempotent by (caller, key).
     *
     * @param body fits the contract's {@code RainDefinition}
     * @return fails with {@link InvalidInputException} when the definition breaks a rule; refused with INSUFFICIENT_FUNDS, and with
     *     NOT_ELIGIBLE for a plain user
     */
    public Future<RainView> create(Caller caller, JsonObject body, IdempotencyKey key) {
        try {
            requireService(caller);
            JsonObject stored = RainText.stored(body, clock.instant());
            RainDefinition definition = RainText.read(stored);
            RainText.require(definition, clock.instant(), packets.limits());
            return creating.create(caller, definition, body, stored, key).compose(id -> view(caller, id));
        } catch (RefusedException | InvalidInputException refused) {
            return Future.failedFuture(refused);
        }
    }

    /** The rain's current state, for its audience and the host application. Refused with NOT_FOUND, or NOT_ELIGIBLE for others. */
    public Future<RainView> view(Caller caller, CampaignId id) {
        return catalog.find(id)
                .compose(RainService::orNotFound)
                .compose(rain -> caller.role() == Role.SERVICE || rain.isFor(caller)
                        ? known(id).compose(view -> withMine(view, caller.user()))
                        : Future.failedFuture(new RefusedException(
                                Refusal.NOT_ELIGIBLE, Reason.GROUP, Text.of("rain.other-groups"))));
    }

    /** The rain with its drops, without any user's catches. Concurrent calls share the queries. */
    private Future<RainView> known(CampaignId id) {
        return views.ask(id, () -> read(id)).compose(RainService::orNotFound);
    }

    private Future<@Nullable RainView> read(CampaignId id) {
        return store.view(id)
                .compose(view -> view == null
                        ? Future.succeededFuture()
                        : store.fallen(id)
                                .map(fallen -> new RainView(
                                        view.rain(), view.life(), view.caught(), fallen, List.of(), view.seed())));
    }

    private Future<RainView> withMine(RainView view, UserId user) {
        return store.caught(List.of(view.rain().id()), user)
                .map(mine -> view.caughtBy(mine.getOrDefault(view.rain().id(), List.of())));
    }

    /**
     * The current rains for a group's members: rains announced in the group, and public ones. With the caller's catches, without drops.
     *
     * @return earliest first, at most {@value #MOST_CURRENT}; refused with NOT_ELIGIBLE for a caller who may not follow the group
     */
    public Future<List<RainView>> current(Caller caller, GroupId group) {
        return catalog.members(group)
                .compose(members -> members.include(caller)
                        ? lists.ask(group, () -> store.current(group, MOST_CURRENT))
                                .compose(views -> withMine(views, caller.user()))
                        : Future.failedFuture(new RefusedException(
                                Refusal.NOT_ELIGIBLE, Reason.GROUP, Text.of("group.not-followed"))));
    }

    private Future<List<RainView>> withMine(List<RainView> views, UserId user) {
        List<CampaignId> begun = views.stream()
                .filter(view -> view.life().status() != RainView.Status.PLANNED)
                .map(view -> view.rain().id())
                .toList();
        return begun.isEmpty()
                ? Future.succeededFuture(views)
                : store.caught(begun, user)
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
    public Future<Page<RainView>> list(
            Caller caller,
            @Nullable UserId sponsor,
            RainView.@Nullable Status status,
            @Nullable String cursor,
            int limit) {
        CampaignId before = cursor == null ? NEWEST : CampaignId.parse(cursor);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        try {
            requireService(caller);
        } catch (RefusedException refused) {
            return Future.failedFuture(refused);
        }
        return store.list(sponsor, status, before, limit + 1)
                .map(views -> Page.of(views, limit, view -> view.rain().id().toString()));
    }

    /** Cancels a rain. No more drops fall, and the uncaught money is returned within seconds. Idempotent; changes nothing after the end. */
    public Future<RainView> cancel(Caller caller, CampaignId id) {
        try {
            requireService(caller);
        } catch (RefusedException refused) {
            return Future.failedFuture(refused);
        }
        return catalog.find(id)
                .compose(RainService::orNotFound)
                .compose(rain -> store.cancel(id))
                .compose(cancelled -> read(id)) // not shared: a concurrent read may have begun before the cancel
                .compose(RainService::orNotFound)
                .compose(view -> withMine(view, caller.user()));
    }

    private static <T> Future<T> orNotFound(@Nullable T found) {
        return found == null
                ? Future.failedFuture(new RefusedException(Refusal.NOT_FOUND, Text.of("rain.not-found")))
                : Future.succeededFuture(found);
    }

    private static void requireService(Caller caller) {
        if (caller.role() != Role.SERVICE) {
            throw new RefusedException(Refusal.NOT_ELIGIBLE, Reason.ROLE, Text.of("rain.only-backend"));
        }
    }
}
