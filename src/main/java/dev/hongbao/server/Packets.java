package dev.hongbao.server;

import dev.hongbao.common.config.PacketConfig;
import dev.hongbao.domain.claim.ClaimMetrics;
import dev.hongbao.domain.claim.ClaimService;
import dev.hongbao.domain.claim.ClaimSettings;
import dev.hongbao.domain.claim.ClaimSettler;
import dev.hongbao.domain.claim.PasscodeGuesses;
import dev.hongbao.domain.claim.SettledClaims;
import dev.hongbao.domain.ledger.Assets;
import dev.hongbao.domain.packet.CloseSettler;
import dev.hongbao.domain.packet.EarlyCloser;
import dev.hongbao.domain.packet.EndedPackets;
import dev.hongbao.domain.packet.PacketCatalog;
import dev.hongbao.domain.packet.PacketCleanup;
import dev.hongbao.domain.packet.PacketCloser;
import dev.hongbao.domain.packet.PacketFiles;
import dev.hongbao.domain.packet.PacketId;
import dev.hongbao.domain.packet.PacketKeys;
import dev.hongbao.domain.packet.PacketSender;
import dev.hongbao.domain.packet.PacketService;
import dev.hongbao.domain.packet.PacketShardLoader;
import dev.hongbao.domain.packet.PacketStore;
import dev.hongbao.domain.packet.PacketViews;
import dev.hongbao.domain.reconcile.PacketComparison;
import dev.hongbao.domain.restriction.Restrictions;
import dev.hongbao.engine.admission.AdmissionControl;
import dev.hongbao.engine.journal.Mode;
import dev.hongbao.engine.journal.Quarantine;
import dev.hongbao.engine.journal.Settlements;
import dev.hongbao.engine.journal.Settler;
import dev.hongbao.engine.postgres.StoreClock;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The red packets' part of the engine: what packets and claims add to it. Thread-safe but for the services. */
final class Packets {
    static final Mode.Traits TRAITS = new Mode.Traits(
            List.of("claim", "load", "close"),
            (generation, packet) -> List.of(PacketKeys.hash(generation, new PacketId(packet))),
            pool -> {
                PacketStore store = new PacketStore(pool);
                return settlers(
                        new Settlements<>(), new PacketCatalog(store), new PacketCleanup(new EndedPackets(store)));
            },
            PacketComparison::new);

    private final Vertx vertx;
    private final Pool pool;
    private final Shards shards;
    private final Quarantine quarantine;
    private final PacketStore store;
    private final PacketStore ownerStore; // on connections of the owner's work
    private final PacketViews views;
    private final PacketCatalog catalog;
    private final EndedPackets ended;
    private final ClaimMetrics metrics;
    private final StoreClock clock;
    private final PasscodeGuesses guesses;
    private final Settlements<SettledClaims> settlements = new Settlements<>();
    private volatile @Nullable PacketSender sender;

    Packets(Foundation base) {
        this.vertx = base.vertx();
        this.pool = base.pools().requests();
        this.shards = base.shards();
        this.quarantine = base.quarantine();
        this.store = new PacketStore(pool, quarantine.forReaders());
        this.ownerStore = new PacketStore(base.pools().owner(), quarantine.forOwners());
        this.views = new PacketViews(pool, store);
        this.catalog = new PacketCatalog(store);
        this.ended = new EndedPackets(store);
        this.metrics = new ClaimMetrics(base.metrics());
        this.clock = base.clock();
        shards.whenPostgresWentBack(catalog::forgetAll);
        shards.whenPostgresWentBack(ended::forgetAll);
        this.guesses = new PasscodeGuesses(
                shards.namespace(),
                base.config().web().limits().wrongPasscodes().perPacket(),
                System::nanoTime);
    }

    /** Where settled claims are told. */
    Settlements<SettledClaims> settlements() {
        return settlements;
    }

    PacketStore store() {
        return store;
    }

    PacketCatalog catalog() {
        return catalog;
    }

    EndedPackets ended() {
        return ended;
    }

    /** For one writer. */
    Mode mode() {
        PacketCleanup ends = new PacketCleanup(ended);
        shards.whenPostgresWentBack(ends::forget);
        return new Mode(
                TRAITS,
                settlers(settlements, catalog.over(ownerStore), ends),
                new PacketShardLoader(),
                List.of(new PacketCloser(ownerStore, ends, shards, vertx)));
    }

    private static List<Settler> settlers(
            Settlements<SettledClaims> settlements, PacketCatalog catalog, PacketCleanup ends) {
        return List.of(new ClaimSettler(catalog, ends, settlements), new CloseSettler(ends));
    }

    /**
     * Packets can be sent from now on; once, before {@link #packets}.
     *
     * @param redis opens connections on the current event loop
     * @param loadWait how long a packet that is sent waits for a recovery under way
     */
    Future<Void> startSending(
            Assets assets, Supplier<Future<RedisLinks>> redis, Duration loadWait, PacketConfig config) {
        PacketService.Limits limits =
                new PacketService.Limits(config.defaultExpiry(), config.maxExpiry(), config.maxCount());
        sender = new PacketSender(pool, shards, catalog, assets, redis, loadWait, limits, clock);
        return vertx.deployVerticle(sender).mapEmpty();
    }

    /** Ends {@link #startSending}. */
    Future<Void> stopSending() {
        return sender == null || sender.deploymentID() == null
                ? Future.succeededFuture()
                : vertx.undeploy(sender.deploymentID()).mapEmpty();
    }

    PacketService packets() {
        return new PacketService(store, views, catalog, ended, Objects.requireNonNull(sender));
    }

    PacketFiles files() {
        return new PacketFiles(pool, store, quarantine);
    }

    /** @param redis of the current event loop @param wait for a settlement, at the most */
    EarlyCloser closing(RedisLinks redis, Duration wait) {
        return new EarlyCloser(vertx, store, catalog, quarantine, shards, redis, wait);
    }

    ClaimService claims(
            RedisLinks redis, Restrictions restrictions, AdmissionControl admission, ClaimSettings settings) {
        return new ClaimService(
                vertx,
                redis,
                shards,
                quarantine,
                store,
                catalog,
                ended,
                restrictions,
                guesses,
                admission,
                settings,
                metrics,
                settlements,
                clock);
    }
}
