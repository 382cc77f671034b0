package dev.hongbao.server;

import dev.hongbao.campaign.Campaigns;
import dev.hongbao.draw.Draws;
import dev.hongbao.engine.Mode;
import dev.hongbao.engine.Mode.Settler;
import dev.hongbao.packet.Packets;
import dev.hongbao.store.redis.Script;
import io.vertx.sqlclient.Pool;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The modes of every process, with or without a running server. {@link Engine#modes} adds what a running server needs. */
final class Modes {
    static final List<Mode.Traits> ALL = List.of(Packets.TRAITS, Draws.TRAITS, Campaigns.TRAITS);

    /** The names of their keys in Redis. */
    static final Mode.Keys KEYS = Mode.Keys.of(ALL);

    private Modes() {}

    /** The texts of their scripts, by name. */
    static Map<String, String> scripts() {
        return ALL.stream()
                .flatMap(mode -> mode.scripts().stream())
                .collect(Collectors.toUnmodifiableMap(name -> name, Script::read));
    }

    /** Their settlers, for a process without a running server. */
    static List<Settler> settlers(Pool pool) {
        return ALL.stream()
                .flatMap(mode -> mode.settlers().apply(pool).stream())
                .toList();
    }
}
