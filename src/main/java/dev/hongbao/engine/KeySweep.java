package dev.hongbao.engine;

import dev.hongbao.engine.Mode.OwnerTask;
import dev.hongbao.engine.Mode.ShardLoader;
import dev.hongbao.store.postgres.Rows.Pages;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLink.RedisInfo;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.sqlclient.Pool;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Removes the keys of older generations from Redis. A pass reads all keys of the shard's server. Recoveries that ask during a
 * pass share the next one. Confined to the persistence verticle's event loop.
 */
final class KeySweep {
    /** Keys a call: some ten thousand a second during a pass. */
    private static final int PAGE = 1000;

    private static final long FREED_POLL_MILLIS = 20;

    /** The longest wait for memory that Redis frees in a thread of its own. */
    private static final long FREED_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Loop loop;
    private final RedisLinks redis;
    private final String namespace;
    private final Map<RedisLink, Passes> servers = new HashMap<>();

    KeySweep(Loop loop, RedisLinks redis, String namespace) {
        this.loop = loop;
        this.redis = redis;
        this.namespace = namespace;
    }

    /**
     * The parsed name of one of our keys.
     *
     * @param generation up to the end of the nonce
     */
    record Name(int shard, long epoch, String generation) {
        /** Parses a key; null if it belongs to no generation of this namespace. */
        static @Nullable Name of(String namespace, String key) {
            int tag = namespace.length() + 2;
            int close = key.indexOf("}:");
            int dash = key.indexOf('-', close + 2);
            int end = key.indexOf(':', dash + 1);
            if (!key.startsWith("{" + namespace + ":") || close < tag || dash < 0 || end < 0) {
                return null;
            }
            try {
                return new Name(
                        Integer.parseInt(key, tag, close, 10),
                        Long.parseLong(key, close + 2, dash, 10),
                        key.substring(0, end));
            } catch (NumberFormatException foreign) {
                return null;
            }
        }

        /** Whether {@code current} has replaced the key's generation. A later generation may be alive, and is kept. */
        boolean isReplacedBy(Generation current) {
            return epoch <= current.epoch() && !generation.equals(current.stamp());
        }
    }

    /** Removes the keys of all generations that this one has replaced, and waits until Redis has freed their memory. */
    Future<Void> unlinkReplaced(Generation current) {
        return servers.computeIfAbsent(current.link(redis).server(), Passes::new)
                .ask(current);
    }

    /** The passes over one server's keys, one at a time. */
    private final class Passes {
        private final RedisLink server;
        private Map<Integer, Generation> asked = new HashMap<>();
        private Promise<Void> next = Promise.promise();
        private boolean passing;

        Passes(RedisLink server) {
            this.server = server;
        }

        private Future<Void> ask(Generation current) {
            asked.put(current.shard(), current);
            Future<Void> done = next.future();
            begin();
            return done;
        }

        private void begin() {
            if (passing) {
                return;
            }
            if (asked.isEmpty()) {
                servers.remove(server);
                return;
            }
            passing = true;
            Map<Integer, Generation> wanted = asked;
            Promise<Void> pass = next;
            asked = new HashMap<>();
            next = Promise.promise();
            go(server, "{" + namespace + ":*", key -> {
                        Name name = Name.of(namespace, key);
                        Generation current = name == null ? null : wanted.get(name.shard());
                        return name != null && current != null && name.isReplacedBy(current);
                    })
                    .compose(gone -> freed(server, loop.nanos()))
                    .onComplete(done -> {
                        passing = false;
                        pass.handle(done);
                        begin();
                    });
        }
    }

    Future<Void> unlinkAll(Generation abandoned) {
        return go(abandoned.link(redis).server(), abandoned.stamp() + ":*", key -> true);
    }

    /** One page of a server's keys. @return the next cursor, and the keys */
    static Future<Response> scan(RedisLink server, String cursor, String pattern) {
        return server.send(Request.cmd(Command.SCAN)
                .arg(cursor)
                .arg("MATCH")
                .arg(pattern)
                .arg("COUNT")
                .arg(PAGE));
    }

    private Future<Void> go(RedisLink server, String pattern, Predicate<String> isOld) {
        AtomicReference<String> cursor = new AtomicReference<>("0");
        return Pages.repeat(() -> scan(server, Objects.requireNonNull(cursor.get()), pattern)
                .compose(page -> {
                    List<String> old = new ArrayList<>();
                    for (Response found : page.get(1)) {
                        if (isOld.test(found.toString())) {
                            old.add(found.toString());
                        }
                    }
                    String next = page.get(0).toString();
                    cursor.set(next);
                    return redis.unlink(old).map(done -> !next.equals("0"));
                }));
    }

    /** A thread of Redis frees large keys; until then their memory counts. */
    private Future<Void> freed(RedisLink server, long sinceNanos) {
        return RedisInfo.read(server, "memory").compose(memory -> {
            boolean pending = !List.of("", "0").contains(memory.get("lazyfree_pending_objects"));
            if (!pending || loop.nanos() - sinceNanos > FREED_NANOS) {
                return Future.succeededFuture();
            }
            Promise<Void> later = Promise.promise();
            loop.timer(FREED_POLL_MILLIS, () -> freed(server, sinceNanos).onComplete(later));
            return later.future();
        });
    }

    /**
     * Removes the remains of crashes from Redis: keys of replaced generations, and of packets and draws that are over. It reads the
     * keys page by page, every ten minutes, for owned shards only. Confined to the persistence verticle's event loop.
     */
    static final class LeftoverKeys implements OwnerTask {
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
                    .compose(page -> leftovers(live, page.get(1))
                            .compose(redis::unlink)
                            .onSuccess(done -> {
                                cursor = page.get(0).toString();
                                if (cursor.equals("0")) {
                                    next();
                                }
                            }))
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
}
