package dev.hongbao.domain.campaign;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.ledger.AccountKind;
import dev.hongbao.domain.ledger.Idempotency;
import dev.hongbao.domain.ledger.Ledger;
import dev.hongbao.domain.packet.PacketKeys;
import dev.hongbao.engine.journal.KeyLoader;
import dev.hongbao.engine.journal.ShardScript;
import dev.hongbao.engine.postgres.SqlState;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/**
 * The commands of a host that move money: one transaction for a campaign and the transfer of its budget into its escrow, and one for
 * what the budget is raised by. One instance per event loop.
 */
final class CampaignCreator {
    /** A zone that only this server knows fails here: Postgres reckons the days of pools. */
    private static final String INSERT =
            "insert into campaign (id, shard, host, name, asset, zone, definition, escrow, refund_to, budget, opens_at, ends_at)"
                    + " select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, coalesce($11, now()), $12"
                    + " where local_day(now(), $6) is not null";

    private final Shards shards;
    private final KeyLoader loading;
    private final Idempotency idempotency;

    CampaignCreator(Pool pool, Shards shards, KeyLoader loading) {
        this.shards = shards;
        this.loading = loading;
        this.idempotency = new Idempotency(pool);
    }

    /**
     * Makes a campaign. Idempotent by (host, key).
     *
     * @param body the definition as the host wrote it; it is stored
     */
    Future<CampaignId> create(UserId host, CampaignDefinition definition, JsonObject body, IdempotencyKey key) {
        CampaignId id = CampaignId.create();
        var scope = new Idempotency.Scope(host, "campaign", key, body.encode());
        return idempotency
                .once(
                        scope,
                        tx -> insert(tx, id, host, definition, body)
                                .map(generation -> new Idempotency.Done<>(id.value(), generation)))
                .compose(made -> {
                    CampaignId campaign = new CampaignId(made.subject());
                    Generation generation = made.fresh();
                    return generation == null || !definition.claiming().limits().any()
                            ? Future.succeededFuture(campaign)
                            : load(campaign, generation).map(campaign);
                });
    }

    /** Raises a budget. Idempotent by (host, key). */
    Future<Void> raise(UserId host, CampaignId id, long amount, IdempotencyKey key) {
        var scope = new Idempotency.Scope(host, "budget", key, id + " " + amount);
        return idempotency
                .once(
                        scope,
                        tx -> CampaignStore.raise(tx, id, amount)
                                .recover(fault -> Future.failedFuture(refusal(fault)))
                                .compose(raised -> raised
                                        ? Future.succeededFuture(new Idempotency.Done<>(id.value(), true))
                                        : Future.failedFuture(new RefusedException(
                                                Refusal.CAMPAIGN_OVER, "The campaign has ended."))))
                .mapEmpty();
    }

    private static Throwable refusal(Throwable fault) {
        return "campaign_budget".equals(SqlState.violatedConstraint(fault))
                ? new RefusedException(Refusal.BALANCE_LIMIT, "A budget is less than 10^14 in all.")
                : Ledger.refusal(fault);
    }

    /** The call of {@code load.lua} for a campaign's hash. Answers how many were not there before. */
    private record LoadCampaign(CampaignId id) implements ShardScript.Call<Integer> {
        @Override
        public String script() {
            return "load";
        }

        @Override
        public int keys() {
            return 1;
        }

        @Override
        public void write(Generation generation, Request request) {
            request.arg(PacketKeys.campaign(generation, id.value()));
        }

        @Override
        public ShardScript.Reply<Integer> read(Generation generation, Response reply) {
            return ShardScript.Reply.of(reply.toInteger());
        }
    }

    private Future<Void> load(CampaignId id, Generation generation) {
        return loading.load(generation, PacketKeys.campaign(generation, id.value()), new LoadCampaign(id))
                .mapEmpty();
    }

    /** Returns the generation that the transaction saw, and that stays the shard's until it ends. */
    private Future<Generation> insert(
            SqlConnection tx, CampaignId id, UserId host, CampaignDefinition definition, JsonObject body) {
        int shard = shards.shardFor(id.value());
        return shards.hold(tx, shard)
                .compose(generation -> Ledger.account(tx, AccountKind.ESCROW, id.toString(), definition.asset())
                        .compose(escrow -> Ledger.account(tx, AccountKind.WALLET, host.value(), definition.asset())
                                .compose(wallet -> tx.preparedQuery(INSERT)
                                        .execute(row(id, shard, host, definition, body)
                                                .addLong(escrow)
                                                .addLong(wallet)
                                                .addLong(definition.budget())
                                                .addOffsetDateTime(offset(
                                                        definition.window().opensAt()))
                                                .addOffsetDateTime(offset(
                                                        definition.window().endsAt())))
                                        .recover(CampaignCreator::unknownZone)
                                        .compose(made -> CampaignStore.fund(tx, id, wallet, escrow, definition.budget())
                                                .recover(fault -> Future.failedFuture(Ledger.refusal(fault))))))
                        .map(generation));
    }

    private static <T> Future<T> unknownZone(Throwable fault) {
        return Future.failedFuture(
                SqlState.isUnknownZone(fault)
                        ? InvalidInputException.of("#/zone", "is a time zone that the database does not know")
                        : fault);
    }

    private static Tuple row(CampaignId id, int shard, UserId host, CampaignDefinition definition, JsonObject body) {
        return Tuple.tuple()
                .addUUID(id.value())
                .addShort((short) shard)
                .addString(host.value())
                .addString(definition.name())
                .addString(definition.asset().code())
                .addString(definition.claiming().zone().getId())
                .addJsonObject(body);
    }

    private static @Nullable OffsetDateTime offset(@Nullable Instant moment) {
        return moment == null ? null : moment.atOffset(ZoneOffset.UTC);
    }
}
