package dev.hongbao.server;

import dev.hongbao.claim.ClaimMetrics;
import dev.hongbao.claim.ClaimService;
import dev.hongbao.claim.ClaimSettings;
import dev.hongbao.claim.ClaimSettler;
import dev.hongbao.claim.PasscodeGuesses;
import dev.hongbao.claim.SettledClaims;
import dev.hongbao.config.PacketConfig;
import dev.hongbao.journal.Chore;
import dev.hongbao.journal.KeyLoading;
import dev.hongbao.journal.LocalCodec;
import dev.hongbao.journal.Quarantine;
import dev.hongbao.journal.Settler;
import dev.hongbao.journal.Shards;
import dev.hongbao.packet.CloseSettler;
import dev.hongbao.packet.EndedPackets;
import dev.hongbao.packet.PacketCatalog;
import dev.hongbao.packet.PacketClosing;
import dev.hongbao.packet.PacketEnds;
import dev.hongbao.packet.PacketService;
import dev.hongbao.packet.PacketStore;
import dev.hongbao.postgres.StoreClock;
import dev.hongbao.redis.RedisLink;
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

    /** @param ends what has ended; the same for the chore */
    List<Settler> settlers(PacketEnds ends) {
        PacketCatalog owners = catalog.over(new PacketStore(ownerPool, quarantine));
        return List.of(new ClaimSettler(owners, ends, vertx.eventBus()), new CloseSettler(ends));
    }

    Chore closing(PacketEnds ends) {
        return new PacketClosing(new PacketStore(ownerPool), ends, shards, vertx.eventBus());
    }

    PacketService packets(KeyLoading loading, PacketConfig config) {
        PacketService.Limits limits =
                new PacketService.Limits(config.defaultExpiry(), config.maxExpiry(), config.maxCount());
        return new PacketService(vertx, pool, shards, store, catalog, ended, loading, vertx.eventBus(), limits, clock);
    }

    ClaimService claims(RedisLink redis, ClaimSettings settings) {
        return new ClaimService(
                vertx, redis, shards, quarantine, store, catalog, ended, guesses, settings, metrics, clock);
    }
}
