package dev.hongbao.packet;

import dev.hongbao.access.Profiles;
import dev.hongbao.access.RateLimits;
import dev.hongbao.access.Restrictions;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.engine.Attempts;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Mode;
import dev.hongbao.engine.Mode.Settler;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.engine.Settlements;
import dev.hongbao.engine.Shards;
import dev.hongbao.http.HttpFace;
import dev.hongbao.http.HttpFace.Route;
import dev.hongbao.ledger.Assets;
import dev.hongbao.packet.Claim.SettledClaims;
import dev.hongbao.packet.ClaimService.ClaimMetrics;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.values.PacketId;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * The packets of a server: what its event loops share, the services of a loop, and the parts that the engine knows. Thread-safe; a loop's
 * services belong to that loop.
 */
public final class Packets {
    private static final Duration COUNT_EVERY = Duration.ofSeconds(5);

    /** The parts that need no running server. */
    public static final Mode.Traits TRAITS = new Mode.Traits(
            List.of("claim", "load", "close"),
            (generation, packet) -> List.of(PacketKeys.hash(generation, new PacketId(packet))),
            pool -> {
                PacketStore store = new PacketStore(pool);
                return settlers(new Settlements<>(), new PacketCatalog(store), new EndedPackets(store));
            },
            PacketComparison::new);

    final PacketStore store;
    private final PacketCatalog catalog;
    private final EndedPackets ended;

    /** A verticle that the server deploys before the first send. */
    public final VerticleBase sender;

    public final PacketService service;

    /** Hears each settled claim. */
    public final Settlements<SettledClaims> settlements = new Settlements<>();

    final PacketFiles files;
    private final PasscodeGuesses guesses;
    private final ClaimMetrics metrics;
    private final Shards shards;
    private final Quarantine quarantine;
    private final Duration settleTimeout;

    /**
     * Event-bus message: just sent packets are claimable now. The sending server publishes it once at {@link #ADDRESS}, best effort. If it
     * is lost, the shard's owner finds the packets. Immutable.
     */
    public record Loaded(List<PacketId> packets) {
        public static final String ADDRESS = "packets.loaded";

        public Loaded {
            packets = List.copyOf(packets);
        }
    }

    /**
     * @param pool of the requests
     * @param redis opens links on the current event loop
     */
    public Packets(
            Pool pool,
            Shards shards,
            Quarantine quarantine,
            Assets assets,
            Supplier<Future<RedisLinks>> redis,
            HongbaoConfig config,
            Clock clock,
            MeterRegistry metrics) {
        HongbaoConfig.PacketConfig terms = config.domain().packet();
        this.shards = shards;
        this.quarantine = quarantine;
        this.settleTimeout = config.domain().claim().settleTimeout();
        this.store = new PacketStore(pool, quarantine.forReaders());
        this.catalog = new PacketCatalog(store);
        this.ended = new EndedPackets(store);
        shards.whenPostgresWentBack(catalog::forgetAll);
        shards.whenPostgresWentBack(ended::forgetAll);
        this.files = new PacketFiles(pool, store, quarantine);
        PacketSender sending = new PacketSender(
                pool,
                shards,
                catalog,
                assets,
                redis,
                settleTimeout,
                new PacketService.Limits(terms.defaultExpiry(), terms.maxExpiry(), terms.maxCount()),
                clock);
        this.sender = sending;
        this.service = new PacketService(pool, store, catalog, ended, sending);
        this.guesses = new PasscodeGuesses(
                shards.namespace(), config.web().limits().wrongPasscodesPerPacket(), System::nanoTime);
        this.metrics = new ClaimMetrics(metrics);
    }

    /** The claims of the current event loop. */
    public ClaimService claims(Attempts attempts, Restrictions restrictions) {
        return new ClaimService(attempts, store, catalog, ended, restrictions, guesses, metrics, settlements);
    }

    /** The early ends of the current event loop. @param redis its links */
    EarlyCloser closing(Loop loop, RedisLinks redis) {
        return new EarlyCloser(loop, store, catalog, quarantine, shards, redis, settleTimeout);
    }

    /** The routes of packets and claims, by {@code operationId}, on the current event loop. @param redis its links */
    public Map<String, Route> routes(
            ClaimRoutes claims, Loop loop, RedisLinks redis, Profiles profiles, RateLimits rates, HttpFace face) {
        return PacketRoutes.of(this, claims, closing(loop, redis), profiles, rates, face);
    }

    /** Carries settled claims between servers. */
    public SettledClaims.Wire wire() {
        return new SettledClaims.Wire(settlements);
    }

    /** The mode of a writer, which reads on its own connections. @param pool of the shards' owner */
    public Mode mode(Loop loop, Pool pool) {
        PacketStore owners = new PacketStore(pool, quarantine.forOwners());
        return new Mode(
                TRAITS,
                settlers(settlements, catalog.over(owners), ended),
                new PacketShardLoader(),
                new PacketCloser(owners, ended, shards, loop).tasks());
    }

    /**
     * Registers {@code hongbao.packet.open} and updates it every few seconds while {@code vertx} runs. Counts up to 100,000, so the cost is
     * bounded. A failed count keeps the last number.
     */
    public static void countOpen(Vertx vertx, Pool pool, MeterRegistry registry) {
        AtomicLong open = new AtomicLong();
        Gauge.builder("hongbao.packet.open", open, AtomicLong::get)
                .description("Packets that are not over, at most 100000")
                .register(registry);
        countOpen(pool, open);
        vertx.setPeriodic(COUNT_EVERY.toMillis(), tick -> countOpen(pool, open));
    }

    private static void countOpen(Pool pool, AtomicLong open) {
        pool.query("select count(*) from (select 1 from packet where closed_at is null limit 100000) as open")
                .execute()
                .onSuccess(rows -> open.set(rows.iterator().next().getLong(0)));
    }

    private static List<Settler> settlers(
            Settlements<SettledClaims> settlements, PacketCatalog catalog, EndedPackets ended) {
        return List.of(new ClaimSettler(catalog, ended, settlements), new CloseSettler(ended));
    }
}
