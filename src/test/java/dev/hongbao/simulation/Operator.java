package dev.hongbao.simulation;

import dev.hongbao.draw.Draws;
import dev.hongbao.engine.Installation;
import dev.hongbao.engine.Mode;
import dev.hongbao.engine.QuarantineStore;
import dev.hongbao.engine.ShardStore;
import dev.hongbao.packet.Packets;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.sqlclient.Pool;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * The operator of the quarantine, on a machine of its own. Some calls are too early: the cause is still there. Then nothing changes, and
 * a later call succeeds.
 */
final class Operator {
    private final History history;
    private final World world;
    private final World.Host host = new World.Host("operator", 0);
    private final PostgresTables tables;
    private final QuarantineStore store;
    private final RedisLinks redis;
    private final RedisServers servers;
    private final Set<UUID> underWay = new HashSet<>();
    private final Set<UUID> dropped = new HashSet<>();
    private boolean works;
    private boolean forgot;

    Operator(History history, World world, SimulatedPostgres postgres, RedisServers redis) {
        this.history = history;
        this.world = world;
        this.tables = postgres.tables;
        Pool pool = new PostgresClients(world, host, postgres).pool(16); // each call uses two, and several run at once
        List<Mode.Traits> modes = List.of(Packets.TRAITS, Draws.TRAITS);
        this.store = new QuarantineStore(
                pool,
                new ShardStore(pool, new Installation(new UUID(0, 1), SimulatedServer.NAMESPACE)),
                modes.stream()
                        .flatMap(mode -> mode.settlers().apply(pool).stream())
                        .toList(),
                Mode.Keys.of(modes));
        this.servers = redis;
        this.redis = redis.open(new World.Loops(world, host).loop(), host);
    }

    /** Begins to look after the quarantine; later calls change nothing. */
    void begin() {
        if (!works) {
            works = true;
            look();
        }
    }

    /** Whether accepted entries of a packet or draw were dropped. */
    boolean hasDropped(UUID unit) {
        return dropped.contains(unit);
    }

    /** The cause is repaired, and some units come back in the middle of a recovery of their shard. */
    void recovering(int shard) {
        List<UUID> units = tables.aside.values().stream()
                .filter(unit -> unit.shard() == shard)
                .map(PostgresTables.AsideRow::id)
                .toList();
        if (works && !units.isEmpty() && !world.oneIn(4)) {
            units.forEach(tables.poisoned::remove);
            world.after(world.millis(0, 4), host, () -> units.forEach(this::bringBack));
        }
    }

    private void look() {
        world.after(
                world.millis(50, 400),
                host,
                () -> store.list()
                        .onSuccess(units -> {
                            if (!units.isEmpty() && !forgot && world.oneIn(2)) {
                                forgot = true;
                                servers.some().forgetScripts(); // so that the shards are recovered
                            } else {
                                units.forEach(each -> bringBack(each.unit().id()));
                            }
                        })
                        .onComplete(done -> look()));
    }

    private void bringBack(UUID id) {
        if (!underWay.add(id)) {
            return;
        }
        boolean drops = Math.floorMod(id.hashCode(), 3) == 0 && !tables.poisoned.contains(id);
        if (drops) {
            dropped.add(id);
        }
        (drops ? store.drop(id, redis) : store.replay(id)).onComplete(done -> {
            underWay.remove(id);
            world.tell(() -> "the operator " + (drops ? "drops " : "replays ") + id + ": " + done);
            world.note(id.hashCode());
            boolean isEarly = done.succeeded() && done.result() > 0 && tables.poisoned.contains(id);
            history.check(!isEarly, () -> id + " came back with entries that are refused");
        });
    }
}
