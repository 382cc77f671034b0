package dev.hongbao.domain.campaign;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.ledger.Commands;
import dev.hongbao.domain.ledger.Idempotency;
import dev.hongbao.domain.ledger.Ledger;
import dev.hongbao.domain.packet.PacketService;
import dev.hongbao.engine.journal.KeyLoader;
import dev.hongbao.engine.postgres.SqlState;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.time.Clock;

/**
 * A sponsor's commands that move money. One transaction makes a campaign and funds its escrow; one raises the budget. One instance per
 * event loop.
 */
final class CampaignCreator {
    private final Shards shards;
    private final KeyLoader loading;
    private final PacketService.Limits limits;
    private final Clock clock;
    private final Idempotency idempotency;

    CampaignCreator(Pool pool, Shards shards, KeyLoader loading, PacketService.Limits limits, Clock clock) {
        this.shards = shards;
        this.loading = loading;
        this.limits = limits;
        this.clock = clock;
        this.idempotency = new Idempotency(pool);
    }

    /**
     * Makes a campaign. Idempotent by (sponsor, key).
     *
     * @param body the sponsor's definition, stored as it is
     * @return fails with {@link InvalidInputException} when a new definition breaks a rule
     */
    Future<CampaignId> create(Caller sponsor, CampaignDefinition definition, JsonObject body, IdempotencyKey key) {
        CampaignId id = CampaignId.create();
        var scope = Idempotency.Scope.of(sponsor, "campaign", key, body.encode());
        return idempotency
                .once(
                        scope,
                        tx -> fitting(definition)
                                .compose(fits -> Commands.insert(tx, id.value(), scope))
                                .compose(noted -> insert(tx, id, sponsor.user(), definition, body))
                                .map(generation -> new Idempotency.Done<>(id.value(), generation)))
                .compose(made -> {
                    CampaignId campaign = new CampaignId(made.subject());
                    Generation generation = made.fresh();
                    return generation == null || !definition.claiming().limits().any()
                            ? Future.succeededFuture(campaign)
                            : new LoadCampaign(campaign).by(loading, generation).map(campaign);
                });
    }

    /** Checks new definitions only. A repeated command gets its first answer, also after the campaign's end. */
    private Future<Void> fitting(CampaignDefinition definition) {
        try {
            CampaignText.require(definition, clock.instant(), limits);
        } catch (InvalidInputException faults) {
            return Future.failedFuture(faults);
        }
        return Future.succeededFuture();
    }

    /** Raises a budget. Idempotent by (sponsor, key). */
    Future<Void> raise(Caller sponsor, CampaignId id, long amount, IdempotencyKey key) {
        var scope = Idempotency.Scope.of(sponsor, "budget", key, id + " " + amount);
        return idempotency
                .once(
                        scope,
                        tx -> CampaignStore.raise(tx, id, amount, scope)
                                .recover(fault -> Future.failedFuture(refusal(fault)))
                                .compose(raised -> raised
                                        ? Future.succeededFuture(new Idempotency.Done<>(id.value(), true))
                                        : Future.failedFuture(new RefusedException(
                                                Refusal.CAMPAIGN_OVER, Text.of("campaign.ended")))))
                .mapEmpty();
    }

    private static Throwable refusal(Throwable fault) {
        return "campaign_budget".equals(SqlState.violatedConstraint(fault))
                ? new RefusedException(Refusal.BALANCE_LIMIT, Text.of("campaign.budget-limit"))
                : Ledger.refusal(fault);
    }

    /** Returns the shard's generation, locked until the transaction ends. */
    private Future<Generation> insert(
            SqlConnection tx, CampaignId id, UserId sponsor, CampaignDefinition definition, JsonObject body) {
        int shard = shards.shardFor(id.value());
        NewCampaign campaign = new NewCampaign(
                id,
                NewCampaign.Kind.CAMPAIGN,
                sponsor,
                new NewCampaign.Budget(definition.name(), definition.asset(), definition.budget()),
                new NewCampaign.Times(
                        definition.window().opensAt(),
                        definition.window().endsAt(),
                        definition.claiming().zone()),
                body);
        return shards.hold(tx, shard)
                .compose(generation -> campaign.insert(tx, shard).map(generation));
    }
}
