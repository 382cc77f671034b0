package dev.hongbao.simulation;

import dev.hongbao.access.Restrictions;
import dev.hongbao.campaign.Campaigns;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.draw.DrawService;
import dev.hongbao.draw.Draws;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.draw.PlayService;
import dev.hongbao.engine.AdmissionControl;
import dev.hongbao.engine.Attempts;
import dev.hongbao.engine.Generation;
import dev.hongbao.engine.Installation;
import dev.hongbao.engine.KeyLoader;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Mode;
import dev.hongbao.engine.Mode.OwnerTask;
import dev.hongbao.engine.Mode.SettlementListener;
import dev.hongbao.engine.Presence;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.engine.ServerLine;
import dev.hongbao.engine.Settlements.Audience;
import dev.hongbao.engine.ShardOwners;
import dev.hongbao.engine.ShardStore;
import dev.hongbao.engine.Shards;
import dev.hongbao.feed.OwnerFeeds;
import dev.hongbao.packet.Claim;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.ClaimService;
import dev.hongbao.packet.EarlyEnds;
import dev.hongbao.packet.PacketKeys;
import dev.hongbao.packet.Packets;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.store.redis.Script;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One server in the world: the real engine, claims and plays, on a loop for the writer and one for requests. */
final class SimulatedServer {
    static final Duration TIMEOUT = Duration.ofSeconds(2);
    static final String NAMESPACE = "sim";

    /** The owner's tick. The default is 100 ms; a longer one makes histories shorter. */
    private static final Duration POLL = Duration.ofMillis(100);

    /** The age from which the owner ends a hold that nobody decided. Longer than a request is tried. */
    static final Duration HELD_LONG = Duration.ofMillis(2_500);

    /** The most that its time is behind Postgres' time. */
    static final Duration BEHIND = Duration.ofMillis(200);

    private static final HongbaoConfig CONFIG = HongbaoConfig.of(Map.of());

    private static final Map<String, String> SCRIPTS = Stream.of(Packets.TRAITS, Draws.TRAITS)
            .flatMap(mode -> mode.scripts().stream())
            .collect(Collectors.toMap(name -> name, Script::read));

    private static final UserId HOST = new UserId("host");
    private static final GroupId GROUP = new GroupId("family");

    final World.Host host;
    final Shards shards;
    private final World world;
    private final Pool pool;
    private final KeyLoader keys;
    private final ClaimService claims;
    private final EarlyEnds ends;
    private final PlayService plays;
    private final DrawService draws;
    private final VerticleBase writer;
    private final RedisLinks links;
    private final VerticleBase messages;
    private final VerticleBase watch;
    private final MeterRegistry watched = new SimpleMeterRegistry();
    private final Presence presence;
    private Set<Integer> numbers;
    private final Quarantine quarantine;
    private final AdmissionControl admission;
    private final Loop requests;
    private boolean serving;

    SimulatedServer(
            World world,
            World.Host host,
            SimulatedPostgres postgres,
            RedisServers redis,
            ServerLine line,
            Random nonces,
            Presence.Check present,
            boolean hasFeed,
            int room) {
        this.world = world;
        this.host = host;
        World.Loops loops = new World.Loops(world, host);
        Loop owner = loops.loop();
        this.requests = loops.loop();
        PostgresClients clients = new PostgresClients(world, host, postgres);
        this.pool = clients.pool(8);
        Pool owners = clients.pool(4);
        MeterRegistry metrics = new CompositeMeterRegistry();
        ShardStore store = new ShardStore(owners, owners, new Installation(new UUID(0, 1), NAMESPACE), nonces);
        this.shards = new Shards(store, postgres.tables.shards.size(), SCRIPTS);
        shards.measure(metrics);
        this.quarantine = new Quarantine(owner, owners, metrics);
        this.links = redis.open(requests, host);
        long behind = world.oneIn(2) ? world.random.nextLong(BEHIND.toNanos()) : 0;
        Clock clock = new Clock() {
            @Override
            public Instant instant() {
                return postgres.tables.now().minusNanos(behind);
            }

            @Override
            public ZoneId getZone() {
                return ZoneOffset.UTC;
            }

            @Override
            public Clock withZone(ZoneId zone) {
                throw new UnsupportedOperationException();
            }
        };
        Packets packets = new Packets(
                pool,
                shards,
                quarantine,
                null, // no asset: the world sends by a statement of its own
                () -> Future.succeededFuture(redis.open(owner, host)),
                CONFIG,
                clock,
                metrics);
        Draws drawing = new Draws(pool, shards, quarantine, 1_000, clock, metrics);
        this.admission = new AdmissionControl(shards.count(), TIMEOUT, 10_000, metrics, requests::nanos);
        Attempts attempts = new Attempts(
                requests,
                links,
                shards,
                quarantine,
                admission,
                new Attempts.Limits(4, 10_000, room, TIMEOUT, Duration.ZERO),
                clock);
        this.keys = new KeyLoader(requests, links, shards, TIMEOUT);
        Restrictions restrictions = new Restrictions(owners, pool);
        this.claims = packets.claims(attempts, restrictions);
        this.ends = new EarlyEnds(packets, requests, links);
        this.plays = drawing.plays(attempts, restrictions, world.random.nextInt(3));
        this.draws = drawing.service(keys);
        List<Mode> modes = List.of(
                packets.mode(owner, owners),
                drawing.mode(owner, owners, HELD_LONG),
                new Campaigns(pool, pool, shards, quarantine, clock).mode(owners));
        this.numbers = Set.of(0, host.name.hashCode());
        this.presence = new Presence(numbers, present);
        this.writer = shards.writer(
                owner,
                clients,
                () -> Future.succeededFuture(redis.open(owner, host)),
                quarantine,
                modes,
                hasFeed ? new OwnerFeeds(owner, owners, shards, packets, drawing) : new NoFeed(),
                POLL,
                presence);
        this.watch = shards.watch(
                owner, () -> Future.succeededFuture(redis.open(owner, host)), new ShardOwners(owners), watched);
        this.messages = shards.messages(owner, line, List.of(packets.wire(), drawing.wire()), new Audience(), metrics);
        requests.periodic(1_000, () -> shards.refresh());
        requests.periodic(AdmissionControl.TICK.toMillis(), admission::tick);
    }

    /** Nobody reads a feed. */
    private static final class NoFeed implements SettlementListener {
        @Override
        public void settled() {}

        @Override
        public void uncertain() {}

        @Override
        public List<OwnerTask> ownerTasks() {
            return List.of();
        }
    }

    /** Fails if a store does not answer; then the process ends. */
    Future<?> start() {
        return shards.refresh()
                .compose(read -> quarantine.start())
                .compose(started -> start(writer))
                .compose(started -> start(messages))
                .compose(started -> start(watch))
                .onSuccess(started -> serving = true);
    }

    /** Stops as an operator stops it. */
    Future<?> stop() {
        serving = false;
        return stop(watch).eventually(() -> stop(messages)).eventually(() -> stop(writer));
    }

    private static Future<?> start(VerticleBase verticle) {
        try {
            return verticle.start();
        } catch (Exception fault) {
            return Future.failedFuture(fault);
        }
    }

    private static Future<?> stop(VerticleBase verticle) {
        try {
            return verticle.stop();
        } catch (Exception fault) {
            return Future.failedFuture(fault);
        }
    }

    /** Shows another number from now on. */
    void showAnother() {
        numbers = Set.of(0, host.name.hashCode() + 1);
        presence.change(numbers);
    }

    /** The numbers that it shows the others. */
    Set<Integer> numbers() {
        return numbers;
    }

    /** A gauge of the operator's view. */
    double gauge(String name, int shard) {
        return watched.get("hongbao.shard." + name)
                .tag("shard", Integer.toString(shard))
                .gauge()
                .value();
    }

    boolean isServing() {
        return serving && !host.isDead();
    }

    /**
     * @param isMember of the packet's group; else only a claim from before counts
     * @param accepted gets the accepted claim
     */
    Future<ClaimOutcome> claim(String user, boolean isMember, UUID packet, Consumer<Claim> accepted) {
        Set<GroupId> groups = isMember ? Set.of(GROUP) : Set.of();
        Caller caller = new Caller(new UserId(user), groups, Role.USER, Instant.MAX);
        return claims.claim(caller, new PacketId(packet), null, accepted);
    }

    /** Ends a packet for the host. @param cancels only if nobody has claimed it */
    Future<Void> end(UUID packet, boolean cancels) {
        PacketId id = new PacketId(packet);
        return cancels ? ends.cancel(id, HOST) : ends.close(id, HOST);
    }

    /** Plays under a key. */
    Future<PlayOutcome> play(String user, UUID draw, String key, int times) {
        Caller caller = new Caller(new UserId(user), Set.of(GROUP), Role.USER, Instant.MAX);
        return plays.play(caller, new DrawId(draw), times, new IdempotencyKey(key));
    }

    /** The differences of a shard's draws in Redis from Postgres, as {@code reconcile} finds them when nothing is in the journal. */
    Future<List<String>> compare(int shard) {
        Generation generation = shards.current(shard).generation();
        return Draws.TRAITS
                .comparison()
                .of(pool, generation.link(links), generation)
                .differences(List.of(), () -> Future.succeededFuture(List.of()))
                .map(found -> Stream.concat(found.missing().stream(), found.wrong().stream())
                        .toList());
    }

    /** Ends a draw for the host. */
    Future<?> endDraw(UUID draw) {
        return draws.close(new Caller(HOST, Set.of(), Role.SERVICE, Instant.MAX), new DrawId(draw));
    }

    /** Ends a campaign as the host's call does. */
    Future<?> endCampaign(UUID campaign) {
        return pool.preparedQuery(PostgresTables.END_CAMPAIGN).execute(Tuple.of(campaign));
    }

    /** Sends a packet as the senders' statement does, then loads it. */
    Future<Boolean> send(UUID packet, int shard, Long[] amounts, long livesMillis) {
        return pool.preparedQuery(PostgresTables.SEND)
                .execute(Tuple.of(packet, shard, amounts, livesMillis))
                .compose(rows -> {
                    Row row = rows.iterator().next();
                    Generation generation =
                            new Generation(NAMESPACE, shard, row.getLong("epoch"), row.getString("nonce"));
                    return keys.load(
                            generation,
                            generation.key("p", packet.toString()),
                            PacketKeys.load(List.of(new PacketId(packet))));
                });
    }
}
