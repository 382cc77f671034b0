package dev.hongbao.campaign;

import dev.hongbao.campaign.Campaign.Definition.PoolShape;
import dev.hongbao.engine.Generation;
import dev.hongbao.engine.KeyLoader;
import dev.hongbao.engine.Shards;
import dev.hongbao.ledger.Idempotency;
import dev.hongbao.ledger.Ledger;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.PacketService;
import dev.hongbao.packet.SendCommand;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.store.postgres.Rows.Pages;
import dev.hongbao.store.postgres.SqlState;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.Page;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.StrictJson;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.LocalDate;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Campaigns, and the pools that users open from them. One instance per event loop; call it on that loop.
 *
 * <p>All calls except {@link #view}, {@link #shares} and {@link #open} are for the host application: refused with NOT_ELIGIBLE for a plain
 * user, and with NOT_FOUND for an unknown campaign.
 */
public final class CampaignService {
    /** Sorts after every campaign's id: the start of a list. */
    private static final CampaignId NEWEST = new CampaignId(new UUID(-1, -1));

    /** Lines of a report in one query. */
    private static final int REPORT_PAGE = 500;

    /** Precedes every line of a report. */
    private static final CampaignReport BEFORE_ALL = new CampaignReport(Integer.MIN_VALUE, "", 0, 0, 0, 0, 0);

    private final Shards shards;
    private final CampaignCatalog catalog;
    private final KeyLoader loading;
    private final PacketService packets;
    private final Clock clock;
    private final Idempotency idempotency;
    private final SecureRandom random = new SecureRandom();

    /**
     * @param packets of this event loop
     * @param clock for early refusals only; Postgres' clock decides what is due
     */
    public CampaignService(
            Pool pool, Shards shards, CampaignCatalog catalog, KeyLoader loading, PacketService packets, Clock clock) {
        this.shards = shards;
        this.catalog = catalog;
        this.loading = loading;
        this.packets = packets;
        this.clock = clock;
        this.idempotency = new Idempotency(pool);
    }

    /**
     * Makes a campaign, and moves its budget from the caller's wallet into its escrow. Idempotent by (caller, key).
     *
     * @param body fits the contract's {@code CampaignDefinition}
     * @return fails with {@link InvalidInputException} when the definition breaks a rule; refused with INSUFFICIENT_FUNDS
     */
    public Future<Campaign.View> create(Caller caller, JsonObject body, IdempotencyKey key) {
        return forService(
                caller,
                () -> create(caller, Campaign.Definition.read(body), body, key).compose(this::known));
    }

    /** One transaction makes the campaign and funds its escrow. Its body is stored as it is. */
    private Future<CampaignId> create(
            Caller sponsor, Campaign.Definition definition, JsonObject body, IdempotencyKey key) {
        CampaignId id = CampaignId.create();
        var scope = Idempotency.Scope.of(sponsor, "campaign", key, StrictJson.sorted(body));
        return idempotency
                .once(
                        scope,
                        tx -> fitting(definition)
                                .compose(fits -> Ledger.command(tx, id.value(), scope))
                                .compose(noted -> insert(tx, id, sponsor.user(), definition, body))
                                .map(generation -> new Idempotency.Done<>(id.value(), generation)))
                .compose(made -> {
                    CampaignId campaign = new CampaignId(made.subject());
                    Generation generation = made.fresh();
                    return generation == null || !definition.claiming().limits().any()
                            ? Future.succeededFuture(campaign)
                            : CampaignShardLoader.load(loading, generation, campaign)
                                    .map(campaign);
                });
    }

    /** Checks new definitions only. A repeated command gets its first answer, also after the campaign's end. */
    private Future<Void> fitting(Campaign.Definition definition) {
        try {
            definition.require(clock.instant(), packets.limits());
        } catch (InvalidInputException faults) {
            return Future.failedFuture(faults);
        }
        return Future.succeededFuture();
    }

    /** Returns the shard's generation, locked until the transaction ends. */
    private Future<Generation> insert(
            SqlConnection tx, CampaignId id, UserId sponsor, Campaign.Definition definition, JsonObject body) {
        int shard = shards.shardFor(id.value());
        NewCampaign campaign = new NewCampaign(
                id,
                NewCampaign.Kind.CAMPAIGN,
                sponsor,
                definition.opensAt(),
                definition.endsAt(),
                definition.claiming().zone(),
                body);
        return shards.hold(tx, shard)
                .compose(generation -> campaign.insert(tx, shard).map(generation));
    }

    /**
     * The campaign's current state, for the host application and for users who may open its pools. Refused with NOT_ELIGIBLE for others.
     */
    public Future<Campaign.View> view(Caller caller, CampaignId id) {
        return known(id)
                .compose(view -> caller.role() == Role.SERVICE
                        ? Future.succeededFuture(view)
                        : catalog.admits(id, caller.user(), caller.groups())
                                .compose(admitted -> admitted
                                        ? Future.succeededFuture(view)
                                        : Refusal.NOT_ELIGIBLE.failure(Text.of("campaign.no-pools"))));
    }

    /**
     * Campaigns, newest first.
     *
     * @param sponsor null for all
     * @param status null for all
     * @param cursor a page's {@code next}; null for the first page
     */
    public Future<Page<Campaign.View>> list(
            Caller caller,
            @Nullable UserId sponsor,
            Campaign.View.@Nullable Status status,
            @Nullable String cursor,
            int limit) {
        CampaignId before = cursor == null ? NEWEST : CampaignId.parse(cursor);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        return forService(caller, () -> catalog.list(sponsor, status, before, limit));
    }

    /** Stops the opening of pools; open pools go on. Idempotent. Refused with CAMPAIGN_OVER. */
    public Future<Campaign.View> pause(Caller caller, CampaignId id) {
        return unlessOver(caller, id, () -> catalog.setPaused(id, true));
    }

    /** Allows the opening of pools again. Idempotent. Refused with CAMPAIGN_OVER. */
    public Future<Campaign.View> resume(Caller caller, CampaignId id) {
        return unlessOver(caller, id, () -> catalog.setPaused(id, false));
    }

    /** @param change gives false when the campaign has ended */
    private Future<Campaign.View> unlessOver(Caller caller, CampaignId id, Supplier<Future<Boolean>> change) {
        return forService(
                caller,
                () -> known(id)
                        .compose(before -> change.get())
                        .compose(changed ->
                                changed ? known(id) : Refusal.CAMPAIGN_OVER.failure(Text.of("campaign.ended"))));
    }

    /** Ends a campaign and its pools now. Idempotent. The remainder is returned within seconds. */
    public Future<Campaign.View> end(Caller caller, CampaignId id) {
        return forService(
                caller, () -> known(id).compose(before -> catalog.end(id)).compose(ended -> known(id)));
    }

    /**
     * Moves more from the sponsor's wallet into the escrow. Idempotent by (caller, key). Refused with CAMPAIGN_OVER, INSUFFICIENT_FUNDS.
     *
     * @param amount minor units
     */
    public Future<Campaign.View> raise(Caller caller, CampaignId id, long amount, IdempotencyKey key) {
        return forService(
                caller,
                () -> known(id)
                        .compose(before -> add(caller, id, Asset.checkAmount(amount), key))
                        .compose(raised -> known(id)));
    }

    private Future<Void> add(Caller sponsor, CampaignId id, long amount, IdempotencyKey key) {
        var scope = Idempotency.Scope.of(sponsor, "budget", key, id + " " + amount);
        return idempotency
                .once(
                        scope,
                        tx -> CampaignCatalog.raise(tx, id, amount, scope)
                                .recover(fault -> Future.failedFuture(refusal(fault)))
                                .compose(raised -> raised
                                        ? Future.succeededFuture(new Idempotency.Done<>(id.value(), true))
                                        : Refusal.CAMPAIGN_OVER.failure(Text.of("campaign.ended"))))
                .mapEmpty();
    }

    private static Throwable refusal(Throwable fault) {
        return "campaign_budget".equals(SqlState.violatedConstraint(fault))
                ? new RefusedException(Refusal.BALANCE_LIMIT, Text.of("campaign.budget-limit"))
                : Ledger.refusal(fault);
    }

    /** The number of shares of a pool; refused with NOT_FOUND. */
    public Future<Integer> shares(CampaignId id) {
        return campaign(id).map(campaign -> campaign.definition().pool().shares());
    }

    /**
     * Opens a pool in one of the caller's groups, paid from the campaign's budget. Idempotent by (caller, key).
     *
     * @param product see {@link dev.hongbao.packet.PoolTerms#PRODUCT}
     * @return the pool; refused as {@link PacketService#send}
     */
    public Future<Packet> open(
            Caller caller, CampaignId id, String product, GroupId group, Metadata metadata, IdempotencyKey key) {
        return campaign(id).compose(campaign -> {
            Campaign.Definition definition = campaign.definition();
            PoolShape shape = definition.pool();
            Packet.Kind kind = shape.split() == SplitAlgorithm.EQUAL ? Packet.Kind.EQUAL : Packet.Kind.LUCKY;
            SendCommand command = SendCommand.of(group, kind, definition.asset(), drawn(shape), shape.shares())
                    .shares(shape.min(), shape.max())
                    .split(shape.split())
                    .expiresIn(shape.life())
                    .pool(campaign.pool(product, caller.user()))
                    .metadata(metadata)
                    .build();
            return packets.send(caller, command, key).recover(fault -> explained(fault, id, group));
        });
    }

    /** Adds the cause to a refusal: the campaign excludes the group, or the user. */
    private Future<Packet> explained(Throwable fault, CampaignId id, GroupId group) {
        return fault instanceof RefusedException refused
                        && refused.refusal() == Refusal.NOT_ELIGIBLE
                        && refused.reason() == null
                ? catalog.opensIn(id, group)
                        .compose(opens ->
                                Refusal.NOT_ELIGIBLE.failure(opens ? Reason.USER : Reason.GROUP, refused.detail()))
                : Future.failedFuture(fault);
    }

    private long drawn(PoolShape shape) {
        return shape.amountFrom() == shape.amountTo()
                ? shape.amountFrom()
                : random.nextLong(shape.amountFrom(), shape.amountTo() + 1);
    }

    /**
     * Reads a campaign's report page by page, by day and product.
     *
     * @param write takes a page, never empty; the next page is read when its future succeeds
     */
    public Future<Void> report(Caller caller, CampaignId id, Function<List<CampaignReport>, Future<Void>> write) {
        return forService(
                caller,
                () -> known(id)
                        .compose(view -> Pages.each(
                                BEFORE_ALL,
                                after -> catalog.report(id, after.day(), after.product(), REPORT_PAGE),
                                lines -> lines.size() < REPORT_PAGE ? null : lines.get(lines.size() - 1),
                                write)));
    }

    private Future<Campaign> campaign(CampaignId id) {
        return catalog.find(id).compose(CampaignService::orNotFound);
    }

    private Future<Campaign.View> known(CampaignId id) {
        return catalog.view(id).compose(CampaignService::orNotFound);
    }

    private static <T> Future<T> orNotFound(@Nullable T found) {
        return found == null ? Refusal.NOT_FOUND.failure(Text.of("campaign.not-found")) : Future.succeededFuture(found);
    }

    private static <T> Future<T> forService(Caller caller, Supplier<Future<T>> work) {
        return forService(caller, Text.of("campaign.only-backend"), work);
    }

    /**
     * Does work that may throw {@link InvalidInputException}.
     *
     * @param rule for the refusal of other callers
     */
    static <T> Future<T> forService(Caller caller, Text rule, Supplier<Future<T>> work) {
        if (caller.role() != Role.SERVICE) {
            return Refusal.NOT_ELIGIBLE.failure(Reason.ROLE, rule);
        }
        try {
            return work.get();
        } catch (InvalidInputException refused) {
            return Future.failedFuture(refused);
        }
    }

    /**
     * The totals of the pools opened on one day for one product. Amounts are minor units; the rest, neither claimed nor returned, is in open
     * pools.
     *
     * @param day from 1970-01-01, in the campaign's zone
     * @param claims settled claims on these pools, of any day
     * @param amount put into the pools
     * @param claimed by users
     * @param returned to the campaign
     */
    public record CampaignReport(
            int day, String product, long pools, long claims, long amount, long claimed, long returned) {
        public LocalDate date() {
            return LocalDate.ofEpochDay(day);
        }
    }
}
