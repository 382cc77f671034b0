package dev.hongbao.store.redis;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One event loop's link to the master that the sentinels name, and its links to the sentinels. The sentinels are asked before
 * each attempt to connect, and every second. After a failover the old master may answer for some eight seconds, until a sentinel
 * demotes it. A server that stayed with it would work apart from the others. The majority of the answering sentinels decides.
 * Used on that event loop only.
 */
final class SentinelLinks implements RedisLinks {
    private static final Logger LOG = LoggerFactory.getLogger(SentinelLinks.class);

    private static final long ASK_MILLIS = 1_000;

    private final Vertx vertx;
    private final RedisAddress address;
    private final List<ServerLink> sentinels;
    private final ServerLink master;
    private final List<Subscription> subscriptions = new ArrayList<>();
    private final long ticks;

    private SentinelLinks(Vertx vertx, RedisAddress address, Duration timeout, String name) {
        this.vertx = vertx;
        this.address = address;
        this.sentinels = address.hosts().stream()
                .map(host -> ServerLink.start(vertx, address.optionsOf(host), timeout, name + " sentinel " + host))
                .toList();
        this.master = new ServerLink(vertx, this::locate, timeout, name);
        this.ticks = vertx.setPeriodic(ASK_MILLIS, tick -> follow());
    }

    /** See {@link RedisLinks#open}. */
    static Future<RedisLinks> open(Vertx vertx, RedisAddress address, Duration timeout, String name) {
        SentinelLinks links = new SentinelLinks(vertx, address, timeout, name);
        return Future.join(links.sentinels.stream().map(ServerLink::firstTry).toList())
                .compose(tried -> links.master.connectFirst())
                .<RedisLinks>map(links)
                .recover(fault -> links.close().transform(shut -> Future.failedFuture(fault)));
    }

    @Override
    public RedisLink linkFor(String key) {
        return master;
    }

    @Override
    public List<RedisLink> servers() {
        return List.of(master);
    }

    @Override
    public Subscription subscribe(List<String> channels, BiConsumer<String, Buffer> heard) {
        Subscription made = master.subscribe(channels, heard);
        subscriptions.add(made);
        return made;
    }

    @Override
    public Future<Void> close() {
        vertx.cancelTimer(ticks);
        return Future.join(sentinels.stream().map(ServerLink::close).toList()).transform(shut -> master.close());
    }

    private Future<RedisOptions> locate() {
        return ask().map(address::optionsOf);
    }

    private void follow() {
        ask().onSuccess(host -> {
            if (!isThere(host)) {
                LOG.info("the sentinels name {} as the master now", host);
                master.leave();
                subscriptions.forEach(Subscription::leave);
            }
        });
    }

    private boolean isThere(String host) {
        return address.optionsOf(host).getEndpoint().equals(master.endpoint());
    }

    /** Host and port with the most votes. The link's own address wins a tie. Fails if no sentinel names a master. */
    private Future<String> ask() {
        List<Future<String>> asked = sentinels.stream()
                .filter(ServerLink::isConnected)
                .map(sentinel -> sentinel.send(Request.cmd(Command.SENTINEL)
                                .arg("GET-MASTER-ADDR-BY-NAME")
                                .arg(address.masterName()))
                        .map(SentinelLinks::hostAndPort))
                .toList();
        return Future.join(asked).transform(done -> {
            Map<String, Integer> votes = new HashMap<>();
            asked.stream()
                    .filter(Future::succeeded)
                    .map(Future::result)
                    .filter(host -> !host.isEmpty())
                    .forEach(host -> votes.merge(host, 1, Integer::sum));
            int most = votes.values().stream().mapToInt(count -> count).max().orElse(0);
            return votes.entrySet().stream()
                    .filter(vote -> vote.getValue() == most)
                    .map(Map.Entry::getKey)
                    .max(Comparator.comparing(this::isThere))
                    .map(Future::succeededFuture)
                    .orElseGet(() -> Future.failedFuture(
                            RedisFault.down("no sentinel names the master of " + address.masterName())));
        });
    }

    /** Empty if the sentinel does not know the name. */
    private static String hostAndPort(@Nullable Response reply) {
        return reply == null || reply.size() < 2
                ? ""
                : ClusterMap.address(reply.get(0).toString(), reply.get(1).toString(), "");
    }
}
