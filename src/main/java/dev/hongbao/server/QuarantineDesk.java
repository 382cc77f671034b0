package dev.hongbao.server;

import dev.hongbao.claim.ClaimSettler;
import dev.hongbao.draw.ClosedDraws;
import dev.hongbao.draw.DrawCatalog;
import dev.hongbao.draw.DrawStore;
import dev.hongbao.draw.EndSettler;
import dev.hongbao.journal.Installation;
import dev.hongbao.journal.LocalCodec;
import dev.hongbao.journal.QuarantineStore;
import dev.hongbao.journal.ShardStore;
import dev.hongbao.packet.CloseSettler;
import dev.hongbao.packet.EndedPackets;
import dev.hongbao.packet.PacketCatalog;
import dev.hongbao.packet.PacketEnds;
import dev.hongbao.packet.PacketStore;
import dev.hongbao.play.PlaySettler;
import dev.hongbao.play.SettledTurns;
import dev.hongbao.redis.RedisLink;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgBuilder;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.function.BiFunction;

/**
 * What an operator does with the quarantine, on connections of its own. Blocking; see {@link QuarantineStore}. Every call throws
 * a {@link dev.hongbao.config.ConfigException} for a database on which no server has worked.
 */
public final class QuarantineDesk {
    private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(30);

    private QuarantineDesk() {}

    /** All that is set aside. @throws Exception when a store does not answer */
    public static List<QuarantineStore.Listed> list(StoreAddresses stores) throws Exception {
        return with(stores, (store, redis) -> store.list());
    }

    /** See {@link QuarantineStore#replay}. @throws Exception when nothing was changed */
    public static int replay(StoreAddresses stores, UUID unit) throws Exception {
        return with(stores, (store, redis) -> store.replay(unit));
    }

    /** See {@link QuarantineStore#drop}. @throws Exception when nothing was changed */
    public static int drop(StoreAddresses stores, UUID unit) throws Exception {
        return with(stores, (store, redis) -> store.drop(unit, redis));
    }

    private static <T> T with(StoreAddresses stores, BiFunction<QuarantineStore, RedisLink, Future<T>> work)
            throws Exception {
        Vertx vertx = Vertx.vertx();
        try {
            Packets.register(vertx);
            LocalCodec.register(vertx.eventBus(), SettledTurns.class);
            // A second connection looks up what the transaction on the first one settles.
            Pool pool = PgBuilder.pool()
                    .with(new PoolOptions().setMaxSize(2))
                    .connectingTo(stores.app().connectOptions())
                    .using(vertx)
                    .build();
            Promise<T> done = Promise.promise();
            vertx.runOnContext(now -> Audit.installation(pool, stores)
                    .compose(installation -> RedisLink.open(vertx, stores.redisUrl(), REDIS_TIMEOUT, "quarantine")
                            .compose(redis -> work.apply(store(vertx, pool, installation), redis)
                                    .eventually(redis::close)))
                    .onComplete(done));
            return done.future().toCompletionStage().toCompletableFuture().get();
        } catch (ExecutionException fault) {
            throw fault.getCause() instanceof Exception cause ? cause : fault;
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    private static QuarantineStore store(Vertx vertx, Pool pool, Installation installation) {
        PacketStore packets = new PacketStore(pool);
        PacketEnds ends = new PacketEnds(new EndedPackets(packets));
        return new QuarantineStore(
                pool,
                new ShardStore(pool, installation),
                List.of(
                        new ClaimSettler(new PacketCatalog(packets), ends, vertx.eventBus()),
                        new CloseSettler(ends),
                        new PlaySettler(new DrawCatalog(new DrawStore(pool)), vertx.eventBus()),
                        new EndSettler(new ClosedDraws())));
    }
}
