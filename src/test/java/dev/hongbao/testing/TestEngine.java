package dev.hongbao.testing;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.engine.Installation;
import dev.hongbao.engine.ShardStore;
import dev.hongbao.engine.Shards;
import dev.hongbao.ledger.Assets;
import dev.hongbao.ledger.Origin;
import dev.hongbao.ledger.Wallets.WalletRecord;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.SendCommand;
import dev.hongbao.server.Engine;
import dev.hongbao.server.Services;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.store.redis.Script;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** An engine without faces on test servers, with the services of some event loops, called from the test's thread. */
public final class TestEngine implements AutoCloseable {
    public static final GroupId GROUP = new GroupId("family");
    public static final Asset CNY = new Asset("CNY");

    /** Who deposits and withdraws. */
    public static final Origin BACKEND = Origin.service(new UserId("backend"));

    /**
     * Unless a test says otherwise: enough shards to have several. Each is recovered at the first start on a database, and is looked
     * after ten times a second from then on. Few connections, since each plans all statements anew.
     */
    static final Map<String, String> DEFAULTS = Map.of("shards", "2", "postgres.pool-size", "3");

    private final Vertx vertx;
    private final Engine engine;
    private final SimpleMeterRegistry metrics;
    private boolean closed;
    private final List<Loop> loops = new ArrayList<>();

    /** One event loop and its services. */
    public record Loop(Context context, Services services) {
        /** Calls a service on its loop. */
        public <T> Future<T> call(Function<Services, Future<T>> work) {
            Promise<T> done = Promise.promise();
            context.runOnContext(now -> work.apply(services).onComplete(done));
            return done.future();
        }
    }

    private TestEngine(Vertx vertx, Engine engine, SimpleMeterRegistry metrics) {
        this.vertx = vertx;
        this.engine = engine;
        this.metrics = metrics;
    }

    /** Starts an engine with some event loops on servers that may have been used before. */
    public static TestEngine start(TestServers servers, int loops, Map<String, String> options) {
        return start(stores(servers), loops, options);
    }

    public static StoreAddresses stores(TestServers servers) {
        return new StoreAddresses(
                servers.redisUrl(),
                PostgresAddress.of(servers.postgresOwnerUrl()),
                PostgresAddress.of(servers.postgresAppUrl()));
    }

    public static TestEngine start(StoreAddresses stores, int loops, Map<String, String> options) {
        return start(stores, loops, options, System::nanoTime);
    }

    /** @param nanoTime what the engine takes for the monotonic clock, when it reckons what time it is in Postgres */
    public static TestEngine start(
            StoreAddresses stores, int loops, Map<String, String> options, LongSupplier nanoTime) {
        Vertx vertx = Vertx.vertx();
        Map<String, String> all = new HashMap<>(DEFAULTS);
        all.putAll(options);
        HongbaoConfig config = HongbaoConfig.of(all);
        SimpleMeterRegistry metrics = new SimpleMeterRegistry();
        Engine engine = get(Engine.start(vertx, stores, config, metrics, nanoTime));
        get(engine.ready(Duration.ofSeconds(20)));
        TestEngine test = new TestEngine(vertx, engine, metrics);
        for (int i = 0; i < loops; i++) {
            Context context = ((io.vertx.core.internal.VertxInternal) vertx).createEventLoopContext();
            Promise<Services> services = Promise.promise();
            context.runOnContext(now -> engine.services().onComplete(services));
            test.loops.add(new Loop(context, get(services.future())));
        }
        return test;
    }

    public Engine engine() {
        return engine;
    }

    /** What the engine counts. */
    public SimpleMeterRegistry metrics() {
        return metrics;
    }

    /** Messages of other servers so far. @param as what became of them: {@code heard}, {@code ignored} */
    public double messages(String as) {
        return metrics().get("hongbao.cluster.messages").tag("as", as).counter().count();
    }

    public Vertx vertx() {
        return vertx;
    }

    public Loop loop(int index) {
        return loops.get(index % loops.size());
    }

    public int loops() {
        return loops.size();
    }

    /** Waits for a future, a minute at the most. */
    public static <T> T get(Future<T> future) {
        try {
            return future.toCompletionStage().toCompletableFuture().get(1, TimeUnit.MINUTES);
        } catch (java.util.concurrent.ExecutionException failed) {
            if (failed.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(failed.getCause());
        } catch (InterruptedException | java.util.concurrent.TimeoutException late) {
            throw new IllegalStateException(late);
        }
    }

    public static Caller member(String user) {
        return new Caller(new UserId(user), Set.of(GROUP), Role.USER, Instant.MAX);
    }

    public static IdempotencyKey newKey() {
        return new IdempotencyKey(UUID.randomUUID().toString());
    }

    /** Declares an asset without caps. */
    public void declare(Asset asset) {
        declare(asset, Assets.Terms.Senders.EVERYBODY, Assets.Terms.Caps.NONE);
    }

    public Assets.Terms declare(Asset asset, Assets.Terms.Senders senders, Assets.Terms.Caps caps) {
        return get(engine.assets.declare(new Assets.Terms(asset, 0, "¤", senders, caps, Instant.EPOCH)))
                .terms();
    }

    /**
     * The shards as another server of this installation knows them.
     *
     * @param scripts that it may call
     */
    public Shards shards(int count, String... scripts) {
        var pool = engine.pool();
        Shards shards = new Shards(
                new ShardStore(pool, get(Installation.read(pool, null))),
                count,
                Stream.of(scripts).collect(Collectors.toMap(name -> name, Script::read)));
        get(shards.refresh());
        return shards;
    }

    public WalletRecord deposit(String user, long amount) {
        return get(engine.wallets.deposit(BACKEND, new UserId(user), CNY, amount, newKey()));
    }

    public long balance(String user) {
        return get(engine.wallets.balances(new UserId(user))).stream()
                .filter(balance -> balance.asset().equals(CNY))
                .mapToLong(balance -> balance.amount())
                .sum();
    }

    /** Sends a lucky packet from {@code sender} with the default terms. */
    public Packet send(String sender, long amount, int count) {
        return send(sender, lucky(amount, count, Duration.ofHours(1)));
    }

    public Packet send(String sender, SendCommand command) {
        return get(loop(0).call(services -> services.packets.send(member(sender), command, newKey())));
    }

    /** Claims a share, on the first loop. @return the settled outcome */
    public ClaimOutcome claim(Packet packet, String user) {
        return get(claim(0, packet, user));
    }

    /** As above, on one of the loops, and without waiting. */
    public Future<ClaimOutcome> claim(int loop, Packet packet, String user) {
        return claim(loop, member(user), packet.id());
    }

    /** As above, by whom the test makes. */
    public Future<ClaimOutcome> claim(int loop, Caller caller, PacketId packet) {
        return loop(loop).call(services -> services.claims.claim(caller, packet, null));
    }

    public static SendCommand lucky(long amount, int count, Duration expiresIn) {
        return SendCommand.of(GROUP, Packet.Kind.LUCKY, CNY, amount, count)
                .expiresIn(expiresIn)
                .build();
    }

    /** Idempotent. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        loops.forEach(loop -> get(loop.call(services -> services.redis.close())));
        get(engine.close());
        get(vertx.close());
    }
}
