package dev.hongbao.engine;

import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.redis.client.Response;
import io.vertx.sqlclient.Pool;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Removes the remains of crashes from Redis: keys of replaced generations, and of packets and draws that are over. It reads the
 * keys page by page, every ten minutes, for owned shards only. Confined to the persistence verticle's event loop.
 */
final class LeftoverKeys implements OwnerTask {
    private static final long PASS_EVERY_NANOS = TimeUnit.MINUTES.toNanos(10);

    private final Loop loop;
    private final Pool pool;
    private final Shards shards;
    private final List<ShardLoader> loaders;
    private final ShardSupervisor supervisor;
    private final Deque<RedisLink> servers = new ArrayDeque<>();
    private String cursor = "0";
    private boolean passed;
    private long passedNanos;

    /** @param supervisor learns of keys of a later generation than the shard's: Postgres went back in time */
    LeftoverKeys(Loop loop, Pool pool, Shards shards, List<ShardLoader> loaders, ShardSupervisor supervisor) {
        this.loop = loop;
        this.pool = pool;
        this.shards = shards;
        this.loaders = loaders;
        this.supervisor = supervisor;
    }

    @Override
    public Future<Void> run(List<Integer> live, RedisLinks redis) {
        if (servers.isEmpty() && (!passed || loop.nanos() - passedNanos > PASS_EVERY_NANOS)) {
            servers.addAll(redis.servers());
        }
        RedisLink server = servers.peek();
        if (server == null || live.isEmpty()) {
            return Future.succeededFuture();
        }
        if (!redis.servers().contains(server)) {
            next(); // another server has its keys now, and gets a pass of its own
            return Future.succeededFuture();
        }
        return KeySweep.scan(server, cursor, "{" + shards.namespace() + ":*")
                .compose(page -> {
                    cursor = page.get(0).toString();
                    if (cursor.equals("0")) {
                        next();
                    }
                    return leftovers(live, page.get(1)).compose(redis::unlink);
                })
                .onFailure(fault -> {
                    servers.add(servers.remove()); // the other servers do not wait for it
                    cursor = "0";
                });
    }

    private void next() {
        servers.poll();
        cursor = "0";
        passed = true;
        passedNanos = loop.nanos();
    }

    private Future<List<String>> leftovers(List<Integer> live, Response found) {
        List<String> old = new ArrayList<>();
        Map<Integer, List<String>> current = new HashMap<>();
        for (Response each : found) {
            String key = each.toString();
            KeySweep.Name name = KeySweep.Name.of(shards.namespace(), key);
            if (name == null || !live.contains(name.shard())) {
                continue;
            }
            Generation generation = shards.current(name.shard()).generation();
            if (name.generation().equals(generation.stamp())) {
                current.computeIfAbsent(name.shard(), shard -> new ArrayList<>())
                        .add(key);
            } else if (name.isReplacedBy(generation)) {
                old.add(key);
            } else {
                supervisor.heardOfLater(name.shard(), name.epoch(), "Redis");
            }
        }
        List<Future<List<String>>> over = new ArrayList<>();
        current.forEach((shard, keys) -> loaders.forEach(
                loader -> over.add(loader.over(pool, shards.current(shard).generation(), keys))));
        return Future.all(over).map(all -> {
            over.forEach(keys -> old.addAll(keys.result()));
            return old;
        });
    }
}
