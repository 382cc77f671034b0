package dev.hongbao.packet;

import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Mode;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.engine.Settlements;
import dev.hongbao.engine.Settler;
import dev.hongbao.engine.Shards;
import dev.hongbao.values.PacketId;
import io.vertx.sqlclient.Pool;
import java.util.List;

/** The parts of packets that the engine knows: their scripts, keys, settlers, loader, owner's task and comparison. */
public final class PacketMode {
    /** The parts that need no running server. */
    public static final Mode.Traits TRAITS = new Mode.Traits(
            List.of("claim", "load", "close"),
            (generation, packet) -> List.of(PacketKeys.hash(generation, new PacketId(packet))),
            pool -> {
                PacketStore store = new PacketStore(pool);
                return settlers(new Settlements<>(), new PacketCatalog(store), new EndedPackets(store));
            },
            PacketComparison::new);

    private PacketMode() {}

    /**
     * The mode of a writer.
     *
     * @param pool of the shards' owner
     * @param catalog of this server's requests; the owner reads beside it, on its own connections
     * @param settlements get each settled claim
     */
    public static Mode of(
            Loop loop,
            Pool pool,
            Shards shards,
            Quarantine quarantine,
            PacketCatalog catalog,
            EndedPackets ended,
            Settlements<SettledClaims> settlements) {
        PacketStore packets = new PacketStore(pool, quarantine.forOwners());
        return new Mode(
                TRAITS,
                settlers(settlements, catalog.over(packets), ended),
                new PacketShardLoader(),
                List.of(new PacketCloser(packets, ended, shards, loop)));
    }

    private static List<Settler> settlers(
            Settlements<SettledClaims> settlements, PacketCatalog catalog, EndedPackets ended) {
        return List.of(new ClaimSettler(catalog, ended, settlements), new CloseSettler(ended));
    }
}
