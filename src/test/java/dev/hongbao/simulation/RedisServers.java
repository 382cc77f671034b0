package dev.hongbao.simulation;

import dev.hongbao.engine.Loop;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.store.redis.Subscription;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** The Redis servers of a world: one, or the masters of a cluster. */
final class RedisServers {
    private static final String TAG = "{" + SimulatedServer.NAMESPACE + ":";

    private final World world;
    private final List<SimulatedRedis> all = new ArrayList<>();

    /** @param wrote gets the text of each script that wrote something */
    RedisServers(World world, int count, Consumer<String> wrote) {
        this.world = world;
        for (int i = 0; i < count; i++) {
            all.add(new SimulatedRedis(world, "redis-" + i, wrote));
        }
    }

    SimulatedRedis some() {
        return all.get(world.random.nextInt(all.size()));
    }

    SimulatedRedis of(int shard) {
        return all.get(shard % all.size());
    }

    RedisModel model(int shard) {
        return of(shard).model();
    }

    void hostDied(World.Host host) {
        all.forEach(each -> each.hostDied(host));
    }

    /** A machine's connections to all of them. */
    RedisLinks open(Loop loop, World.Host host) {
        List<RedisLinks> each =
                all.stream().map(redis -> redis.open(loop, host)).toList();
        return each.size() == 1 ? each.get(0) : new ClusterLinks(each);
    }

    private record ClusterLinks(List<RedisLinks> each) implements RedisLinks {
        @Override
        public RedisLink linkFor(String key) {
            int begin = key.indexOf(TAG) + TAG.length();
            int shard = Integer.parseInt(key.substring(begin, key.indexOf('}', begin)));
            return each.get(shard % each.size()).linkFor(key);
        }

        @Override
        public List<RedisLink> servers() {
            return each.stream().flatMap(links -> links.servers().stream()).toList();
        }

        @Override
        public Subscription subscribe(List<String> channels, BiConsumer<String, Buffer> heard) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Future<Void> close() {
            return Future.join(each.stream().map(RedisLinks::close).toList()).mapEmpty();
        }
    }
}
