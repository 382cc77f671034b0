package dev.hongbao.server;

import dev.hongbao.common.config.PacketConfig;
import dev.hongbao.domain.claim.ClaimMetrics;
import dev.hongbao.domain.claim.ClaimService;
import dev.hongbao.domain.claim.ClaimSettings;
import dev.hongbao.domain.claim.ClaimSettler;
import dev.hongbao.domain.claim.PasscodeGuesses;
import dev.hongbao.domain.claim.SettledClaims;
import dev.hongbao.domain.packet.CloseSettler;
import dev.hongbao.domain.packet.EndedPackets;
import dev.hongbao.domain.packet.PacketCatalog;
import dev.hongbao.domain.packet.PacketCleanup;
import dev.hongbao.domain.packet.PacketCloser;
import dev.hongbao.domain.packet.PacketService;
import dev.hongbao.domain.packet.PacketStore;
import dev.hongbao.engine.journal.KeyLoader;
import dev.hongbao.engine.journal.OwnerTask;
import dev.hongbao.engine.journal.Quarantine;
import dev.hongbao.engine.journal.Settler;
import dev.hongbao.engine.postgres.StoreClock;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.shard.LocalCodec;
import dev.hongbao.engine.shard.Shards;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.util.List;

/** The red packets' part of the engine: what packets and claims add to it. Safe on any thread but for the services. */
final class Packets {
    /** The names of their scripts. */
    static final List<String> SCRIPTS = List.of("claim", "load", "close");

    private final Vertx vertx;
    private final Pool pool;
    private final Pool ownerPool;
    private final Shards shards;
    private final Quarantine quarantine;
    private final PacketStore store;
    private final PacketCatalog catalog;
    private final EndedPackets ended;
    private final ClaimMetrics metrics;
    private final StoreClock clock;
    private final PasscodeGuesses guesses;

    /**
     * @param pool of requests
     * @param ownerPool of the owner's work
     * @param wrongPasscodes of one packet in an hour; 0 = no limit
     */
    Packets(
            Vertx vertx,
            Pool pool,
            Pool ownerPool,
            Shards shards,
            Quarantine quarantine,
            int wrongPasscodes,
            MeterRegistry metrics,
            StoreClock clock) {
        this.vertx = vertx;
        this.pool = pool;
        this.ownerPool = ownerPool;
        this.shards = shards;
        this.quarantine = quarantine;
        this.store = new PacketStore(pool, quarantine);
        this.catalog = new PacketCatalog(store);
        this.ended = new EndedPackets(store);
        this.metrics = new ClaimMetrics(metrics);
        this.clock = clock;
        shards.whenPostgresWentBack(catalog::forgetAll);
        shards.whenPostgresWentBack(ended::forgetAll);
        this.guesses = new PasscodeGuesses(shards.namespace(), wrongPasscodes, System::nanoTime);
    }

    /** What they need before anything is settled. Once a Vert.x instance. */
    static void register(Vertx vertx) {
        LocalCodec.register(vertx.eventBus(), SettledClaims.class);
    }

    PacketCatalog catalog() {
        return catalog;
    }

    EndedPackets ended() {
        return ended;
    }

    /** @param ends what has ended; the same for the owner's task */
    List<Settler> settlers(PacketCleanup ends) {
        PacketCatalog owners = catalog.over(new PacketStore(ownerPool, quarantine));
        return List.of(new ClaimSettler(owners, ends, vertx.eventBus()), new CloseSettler(ends));
    }

    OwnerTask closing(PacketCleanup ends) {
        return new PacketCloser(new PacketStore(ownerPool), ends, shards, vertx.eventBus());
    }

    PacketService packets(KeyLoader loading, PacketConfig config) {
        PacketService.Limits limits =
                new PacketService.Limits(config.defaultExpiry(), config.maxExpiry(), config.maxCount());
        return new PacketService(vertx, pool, shards, store, catalog, ended, loading, vertx.eventBus(), limits, clock);
    }

    ClaimService claims(RedisLink redis, ClaimSettings settings) {
        return new ClaimService(
                vertx, redis, shards, quarantine, store, catalog, ended, guesses, settings, metrics, clock);
    }
}
