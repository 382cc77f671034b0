package dev.hongbao.server;

import dev.hongbao.campaign.CampaignComparison;
import dev.hongbao.draw.DrawCatalog;
import dev.hongbao.draw.DrawCleanup;
import dev.hongbao.draw.DrawComparison;
import dev.hongbao.draw.DrawKeys;
import dev.hongbao.draw.DrawStore;
import dev.hongbao.draw.EndSettler;
import dev.hongbao.draw.PlaySettler;
import dev.hongbao.draw.SettledPlays;
import dev.hongbao.engine.Mode;
import dev.hongbao.engine.Settlements;
import dev.hongbao.engine.Settler;
import dev.hongbao.packet.ClaimSettler;
import dev.hongbao.packet.CloseSettler;
import dev.hongbao.packet.EndedPackets;
import dev.hongbao.packet.PacketCatalog;
import dev.hongbao.packet.PacketComparison;
import dev.hongbao.packet.PacketKeys;
import dev.hongbao.packet.PacketStore;
import dev.hongbao.packet.SettledClaims;
import dev.hongbao.store.redis.Script;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.PacketId;
import io.vertx.sqlclient.Pool;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The modes of every process, with or without a running server. {@link Engine#modes} adds what a running server needs. */
final class Modes {
    static final Mode.Traits PACKETS = new Mode.Traits(
            List.of("claim", "load", "close"),
            (generation, packet) -> List.of(PacketKeys.hash(generation, new PacketId(packet))),
            pool -> {
                PacketStore store = new PacketStore(pool);
                return settlers(new Settlements<>(), new PacketCatalog(store), new EndedPackets(store));
            },
            PacketComparison::new);

    static final Mode.Traits DRAWS = new Mode.Traits(
            List.of("play", "draw", "period", "end", "return"),
            (generation, draw) -> {
                DrawId id = new DrawId(draw);
                return List.of(DrawKeys.hash(generation, id), DrawKeys.schedule(generation, id));
            },
            pool -> settlers(new Settlements<>(), new DrawCatalog(new DrawStore(pool)), new DrawCleanup()),
            DrawComparison::new);

    /** Campaigns and rains have no journal items: a claim on a pool is a claim on a packet. */
    static final Mode.Traits CAMPAIGNS =
            new Mode.Traits(List.of(), (generation, unit) -> List.of(), pool -> List.of(), CampaignComparison::new);

    static final List<Mode.Traits> ALL = List.of(PACKETS, DRAWS, CAMPAIGNS);

    /** The names of their keys in Redis. */
    static final Mode.Keys KEYS = Mode.Keys.of(ALL);

    private Modes() {}

    static List<Settler> settlers(Settlements<SettledClaims> settlements, PacketCatalog catalog, EndedPackets ends) {
        return List.of(new ClaimSettler(catalog, ends, settlements), new CloseSettler(ends));
    }

    static List<Settler> settlers(Settlements<SettledPlays> settlements, DrawCatalog catalog, DrawCleanup ends) {
        return List.of(new PlaySettler(catalog, settlements), new EndSettler(ends));
    }

    /** The texts of their scripts, by name. */
    static Map<String, String> scripts() {
        return ALL.stream()
                .flatMap(mode -> mode.scripts().stream())
                .collect(Collectors.toUnmodifiableMap(name -> name, Script::read));
    }

    /** Their settlers, for a process without a running server. */
    static List<Settler> settlers(Pool pool) {
        return ALL.stream().flatMap(mode -> mode.settlers().of(pool).stream()).toList();
    }
}
