package dev.hongbao.tools.bench;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.ledger.Origin;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.ClaimService;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.SendCommand;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.server.Engine;
import dev.hongbao.server.Operations;
import dev.hongbao.server.Services;
import dev.hongbao.store.Stores;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;

/** An engine without HTTP, with the services of some event loops: sends packets, claims, checks the books. Blocking, confined to one thread. */
final class BenchBed implements AutoCloseable {
    /** More than one, as the senders are, so that no group's feed and no sender's wallet limits the load. */
    static final List<GroupId> GROUPS =
            IntStream.range(0, 16).mapToObj(i -> new GroupId("group-" + i)).toList();

    /** Have money after {@link #fund}. */
    static final List<Caller> SENDERS = members("sender-%02d", 64);

    /** The host's own backend. */
    static final Caller GATEWAY = new Caller(new UserId("backend"), Set.of(), Caller.Role.SERVICE, Instant.MAX);

    static final Asset CNY = new Asset("CNY");

    private static final Origin BACKEND = Origin.service(new UserId("backend"));
    private static final long DEPOSIT = 10_000_000_000_000L;
    private static final int MEAN_SHARE = 100;
    private static final Duration EXPIRY = Duration.ofHours(1);

    /** Sends under way on a loop; fewer than may wait for a connection. */
    private static final int SENDING = 64;

    /** A member's next time round begins so many later, so that no packet meets a member twice. */
    private static final long SHIFT = 7;

    private static final Duration READY = Duration.ofSeconds(20);
    private static final long AWAIT_MINUTES = 2;
    private static final long POLL_MILLIS = 20;

    final Trial trial;
    final HongbaoConfig config;
    private final Stores stores;
    final Vertx vertx;
    final Engine engine;
    final List<Context> loops;
    private final List<Services> services = new ArrayList<>();

    private BenchBed(Trial trial, HongbaoConfig config, Stores stores, Vertx vertx) throws Exception {
        this.trial = trial;
        this.config = config;
        this.stores = stores;
        this.vertx = vertx;
        var metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        this.engine = await(Engine.start(vertx, stores.addresses(), config, metrics));
        await(engine.ready(READY));
        this.loops = loops(vertx, config.web().http().effectiveEventLoops());
        for (Context loop : loops) {
            services.add(on(loop, engine::services));
        }
    }

    /** Starts stores in the trial's directory and an engine that settles and accepts whole bursts. */
    static BenchBed start(Trial trial) throws Exception {
        return start(
                trial,
                HongbaoConfig.of(Map.of(
                        "data.dir", trial.directory.toString(),
                        "reconcile.every", "0s",
                        "packet.max-count", "100000",
                        "claim.settle-timeout", "1m",
                        "claim.max-waiting", "2000000",
                        "postgres.pool-size", "16")));
    }

    static BenchBed start(Trial trial, HongbaoConfig config) throws Exception {
        return start(trial, config, Stores.open(config));
    }

    /** Starts a second engine on the stores of a running server, for sending packets. It owns no shards and settles nothing. */
    static BenchBed beside(Trial trial, HongbaoConfig config) throws Exception {
        BenchBed bed = start(trial, config, Stores.join(config));
        bed.acceptOnly();
        return bed;
    }

    private static BenchBed start(Trial trial, HongbaoConfig config, Stores stores) throws Exception {
        return new BenchBed(trial, config, stores, Vertx.vertx(new VertxOptions().setPreferNativeTransport(true)));
    }

    /** Takes so many event loops. A verticle per loop is the only way: another thread always gets the same context. */
    static List<Context> loops(Vertx vertx, int count) throws Exception {
        List<Context> loops = new CopyOnWriteArrayList<>();
        await(vertx.deployVerticle(
                () -> new VerticleBase() {
                    @Override
                    public Future<?> start() {
                        loops.add(context);
                        return Future.succeededFuture();
                    }
                },
                new DeploymentOptions().setInstances(count)));
        return loops;
    }

    /** Makes one call on a loop. */
    static <T> T on(Context loop, Supplier<Future<T>> call) throws Exception {
        Promise<T> done = Promise.promise();
        loop.runOnContext(now -> call.get().onComplete(done));
        return await(done.future());
    }

    /** Waits for a future, two minutes at the most. */
    static <T> T await(Future<T> future) throws Exception {
        return future.toCompletionStage().toCompletableFuture().get(AWAIT_MINUTES, TimeUnit.MINUTES);
    }

    /** With a Redis user that may do everything: the articles' designs run there, too. */
    StoreAddresses stores() {
        return stores.adminAddresses();
    }

    /** The services of call number n of a {@link Storm}. */
    Services services(int n) {
        return services.get(n % services.size());
    }

    /** Settles from now on. */
    void settle() throws Exception {
        await(engine.startWriter());
    }

    /** Stops settling: accepted claims wait in the journal. */
    void acceptOnly() throws Exception {
        await(engine.stopWriter());
    }

    /** @return the first column of the first row */
    double number(String sql) throws Exception {
        return await(engine.pool().query(sql).execute()).iterator().next().getDouble(0);
    }

    /** Checks every invariant of the books. A violation is a fault of the trial. */
    void checkBooks() throws Exception {
        for (Finding finding : Operations.reconcile(stores(), found -> {})) {
            finding.lines().forEach(line -> trial.fault(finding.invariant() + " " + finding.name() + ": " + line));
        }
    }

    /** Members of all groups, with names of 16 characters. */
    static List<Caller> members(int count) {
        return members("member-%09d", count);
    }

    private static List<Caller> members(String name, int count) {
        Set<GroupId> groups = Set.copyOf(GROUPS);
        return IntStream.range(0, count)
                .mapToObj(i ->
                        new Caller(new UserId(String.format(Locale.ROOT, name, i)), groups, Role.USER, Instant.MAX))
                .toList();
    }

    /** Gives the senders money for any number of packets. */
    void fund() throws Exception {
        fund(SENDERS, CNY);
    }

    void fund(List<Caller> members, Asset asset) throws Exception {
        new Storm<>(
                        loops,
                        members.size(),
                        SENDING,
                        n -> engine.wallets.deposit(BACKEND, members.get(n).user(), asset, DEPOSIT, newKey()),
                        deposit -> true)
                .run();
    }

    /** Sends packets of {@code shares} each that open at once. */
    List<PacketId> send(int packets, int shares) throws Exception {
        return send(packets, shares, null);
    }

    /** @param opensAt by Postgres' clock; null for at once */
    List<PacketId> send(int packets, int shares, @Nullable Instant opensAt) throws Exception {
        List<PacketId> sent = Collections.synchronizedList(new ArrayList<>(packets));
        new Storm<>(
                        loops,
                        packets,
                        SENDING,
                        n -> {
                            GroupId group = GROUPS.get(n % GROUPS.size());
                            SendCommand command = SendCommand.of(
                                            group, Packet.Kind.LUCKY, CNY, (long) shares * MEAN_SHARE, shares)
                                    .opensAt(opensAt)
                                    .expiresIn(EXPIRY)
                                    .build();
                            return services(n).packets.send(SENDERS.get(n % SENDERS.size()), command, newKey());
                        },
                        packet -> sent.add(packet.id()))
                .run();
        return sent;
    }

    static IdempotencyKey newKey() {
        return new IdempotencyKey(UUID.randomUUID().toString());
    }

    /**
     * Claims: number n is on packet n mod packets, and no member claims a packet twice.
     *
     * @param expected the outcome of each: {@code CLAIMED} waits for the settlement, the others for Redis or less
     */
    double claim(List<PacketId> packets, List<Caller> members, int claims, ClaimOutcome.Kind expected)
            throws Exception {
        boolean settles = expected == ClaimOutcome.Kind.CLAIMED;
        return new Storm<ClaimOutcome>(
                        loops,
                        claims,
                        Storm.WINDOW,
                        n -> {
                            PacketId packet = packets.get(n % packets.size());
                            Caller caller = members.get((int) ((n + SHIFT * (n / members.size())) % members.size()));
                            ClaimService service = services(n).claims;
                            return settles ? service.claim(caller, packet, null) : service.accept(caller, packet, null);
                        },
                        outcome -> outcome.kind() == expected)
                .run();
    }

    /** Waits until everything accepted is settled. */
    void awaitSettled() throws Exception {
        try (Jedis redis = new Jedis(URI.create(stores().redisUrl()))) {
            Set<String> journals = redis.keys("{*:*}:*:journal");
            await(
                    "accepted claims are not settled",
                    () -> journals.stream().mapToLong(redis::xlen).sum() == 0);
        }
    }

    /** Looks again and again, two minutes at most. */
    static void await(String otherwise, Callable<Boolean> isDone) throws Exception {
        long late = System.nanoTime() + TimeUnit.MINUTES.toNanos(AWAIT_MINUTES);
        while (!isDone.call()) {
            if (System.nanoTime() - late > 0) {
                throw new TimeoutException(otherwise + " after two minutes");
            }
            TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        }
    }

    @Override
    public void close() throws Exception {
        try {
            for (int i = 0; i < services.size(); i++) {
                Services each = services.get(i);
                on(loops.get(i), () -> each.redis.close());
            }
            await(engine.close());
            await(vertx.close());
        } finally {
            stores.close();
        }
    }
}
