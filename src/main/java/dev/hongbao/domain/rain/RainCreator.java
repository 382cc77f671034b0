package dev.hongbao.domain.rain;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.Text;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.campaign.CampaignDefinition.PoolShape;
import dev.hongbao.domain.campaign.CampaignId;
import dev.hongbao.domain.campaign.LoadCampaign;
import dev.hongbao.domain.campaign.NewCampaign;
import dev.hongbao.domain.fairness.RainSeed;
import dev.hongbao.domain.ledger.Commands;
import dev.hongbao.domain.ledger.Idempotency;
import dev.hongbao.domain.packet.PacketKind;
import dev.hongbao.domain.packet.PoolBatch;
import dev.hongbao.domain.packet.SendCommand;
import dev.hongbao.domain.rain.RainDefinition.Fall;
import dev.hongbao.domain.restriction.Restrictions;
import dev.hongbao.domain.split.SplitAlgorithm;
import dev.hongbao.engine.cluster.Audience;
import dev.hongbao.engine.journal.KeyLoader;
import dev.hongbao.engine.shard.Generation;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes rains: one transaction for the campaign, the transfer of its budget into its escrow, all drops and the announcement. One instance
 * per event loop.
 */
final class RainCreator {
    private final Vertx vertx;
    private final Shards shards;
    private final KeyLoader loading;
    private final Restrictions restrictions;
    private final Idempotency idempotency;
    private final SecureRandom random = new SecureRandom();

    RainCreator(Vertx vertx, Pool pool, Shards shards, KeyLoader loading, Restrictions restrictions) {
        this.restrictions = restrictions;
        this.vertx = vertx;
        this.shards = shards;
        this.loading = loading;
        this.idempotency = new Idempotency(pool);
    }

    /**
     * A rain to be made.
     *
     * @param stored its definition, see {@link RainText}
     */
    private record NewRain(Rain rain, JsonObject stored, RainSeed seed, PoolBatch drops) {}

    /**
     * Makes a rain. Idempotent by (sponsor, key).
     *
     * @param body the sponsor's definition, for the comparison of repetitions
     * @param stored the definition as it is stored
     */
    Future<CampaignId> create(
            Caller sponsor, RainDefinition definition, JsonObject body, JsonObject stored, IdempotencyKey key) {
        var scope = Idempotency.Scope.of(sponsor, "rain", key, body.encode());
        return vertx.executeBlocking(() -> prepare(sponsor.user(), definition, stored), false)
                .compose(fresh -> idempotency
                        .once(
                                scope,
                                tx -> restrictions // for a new rain only; a repeated command gets its first answer
                                        .requireOpen(definition.members().groups())
                                        .compose(open -> Commands.insert(
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

    private NewRain prepare(UserId sponsor, RainDefinition definition, JsonObject stored) {
        CampaignId id = CampaignId.create();
        byte[] bytes = new byte[RainSeed.BYTES];
        random.nextBytes(bytes);
        RainSeed seed = new RainSeed(bytes);
        Fall fall = definition.fall();
        Rain rain = new Rain(
                id,
                shards.shardFor(id.value()),
                sponsor,
                definition,
                seed.commitment(id.value(), fall.startsAt(), fall.lastAt(), fall.drops()));
        return new NewRain(rain, stored, seed, PoolBatch.of(drops(rain, seed), random));
    }

    private static List<SendCommand> drops(Rain rain, RainSeed seed) {
        RainDefinition definition = rain.definition();
        Fall fall = definition.fall();
        PoolShape shape = fall.drop();
        PacketKind kind = shape.split() == SplitAlgorithm.EQUAL ? PacketKind.EQUAL : PacketKind.LUCKY;
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
        RainDefinition definition = rain.definition();
        NewCampaign campaign = new NewCampaign(
                rain.id(),
                NewCampaign.Kind.RAIN,
                rain.sponsor(),
                new NewCampaign.Budget(definition.name(), definition.asset(), definition.budget()),
                new NewCampaign.Times(
                        null, definition.fall().endsAt(), definition.claiming().zone()),
                fresh.stored);
        return RainStore.isAhead(tx, definition.fall().startsAt())
                .compose(ahead -> ahead
                        ? shards.hold(tx, rain.shard())
                        : Future.failedFuture(InvalidInputException.of("#/startsAt", Text.of("time.after-now"))))
                .compose(generation -> campaign.insert(tx, rain.shard())
                        .compose(paid -> RainStore.insert(tx, rain, fresh.seed))
                        .compose(made -> fresh.drops.send(tx))
                        .compose(sent -> RainStore.announce(tx, rain.id()))
                        .map(generation));
    }

    private Future<Void> load(NewRain fresh, Generation generation) {
        vertx.eventBus().publish(Audience.NUDGE, null);
        return new LoadCampaign(fresh.rain.id())
                .by(loading, generation)
                .compose(loaded -> fresh.drops.load(loading, generation));
    }
}
