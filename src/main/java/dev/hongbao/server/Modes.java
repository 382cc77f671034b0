package dev.hongbao.server;

import dev.hongbao.engine.journal.Mode;
import dev.hongbao.engine.journal.Settler;
import dev.hongbao.engine.redis.Script;
import io.vertx.sqlclient.Pool;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** All modes that a server has. A new one is a class beside {@link Packets}, {@link Draws} and {@link Campaigns}, named here and in {@link Parts}. */
final class Modes {
    /** What is the same wherever they are used. */
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

    /** Their settlers, for who settles without a server at work. */
    static List<Settler> settlers(Pool pool) {
        return ALL.stream().flatMap(mode -> mode.settlers().of(pool).stream()).toList();
    }
}
