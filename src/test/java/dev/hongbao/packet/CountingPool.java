package dev.hongbao.packet;

import dev.hongbao.engine.Installation;
import dev.hongbao.engine.ShardStore;
import dev.hongbao.engine.Shards;
import dev.hongbao.ledger.Assets;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/** A pool that counts its questions. */
public final class CountingPool {
    private final AtomicInteger asked = new AtomicInteger();
    private final Pool pool;
    private final Assets assets;

    /** @param counted is asked for assets, too, which does not count */
    public CountingPool(Pool counted) {
        this.assets = new Assets(counted);
        this.pool = (Pool) Proxy.newProxyInstance(
                Pool.class.getClassLoader(), new Class<?>[] {Pool.class}, (self, method, given) -> {
                    asked.incrementAndGet();
                    try {
                        return method.invoke(counted, given);
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                });
    }

    public Pool pool() {
        return pool;
    }

    /** The service as a server has it that was just started: nothing is at hand. It sends nothing that the wallet can pay. */
    public PacketService service() {
        PacketStore store = new PacketStore(pool);
        PacketCatalog catalog = new PacketCatalog(store);
        PacketSender sender = new PacketSender(
                pool,
                new Shards(new ShardStore(pool, new Installation(new UUID(0, 0), "test")), 1, Map.of()),
                catalog,
                assets,
                () -> Future.failedFuture("nothing is loaded here"),
                Duration.ZERO,
                new PacketService.Limits(Duration.ofHours(1), Duration.ofDays(1), 100_000),
                Clock.systemUTC());
        return new PacketService(pool, store, catalog, new EndedPackets(store), sender);
    }

    /** How often since it was last asked for. */
    public int take() {
        return asked.getAndSet(0);
    }
}
