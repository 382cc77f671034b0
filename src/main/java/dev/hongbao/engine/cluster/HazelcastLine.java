package dev.hongbao.engine.cluster;

import com.hazelcast.config.Config;
import com.hazelcast.config.JavaSerializationFilterConfig;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.config.NetworkConfig;
import dev.hongbao.common.config.ClusterConfig;
import dev.hongbao.common.config.ClusterTls;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.core.eventbus.MessageProducer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.spi.cluster.hazelcast.ConfigUtil;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The clustered event bus of Vert.x on Hazelcast. A Vert.x of its own with one event loop, so that the server's own neither waits for it at
 * the start nor carries it. Two addresses: one of each server, and one of all of an installation. Thread-safe.
 */
public final class HazelcastLine implements ServerLine {
    /** What may wait to be sent; beyond, messages are dropped: some server reads too slowly. */
    private static final long MAX_WAITING_BYTES = 16 << 20;

    private static final String FROM = "from";

    private final Vertx vertx;
    private final HazelcastClusterManager members;
    private final String prefix;
    private final MessageProducer<Buffer> all;
    private final Map<String, MessageProducer<Buffer>> each = new ConcurrentHashMap<>();
    private final AtomicLong waitingBytes = new AtomicLong();
    private @Nullable Future<Void> closed;

    private HazelcastLine(Vertx vertx, HazelcastClusterManager members, String namespace) {
        this.vertx = vertx;
        this.members = members;
        this.prefix = "hongbao." + namespace + ".";
        this.all = vertx.eventBus().publisher(prefix + "all");
        all.deliveryOptions(new DeliveryOptions().addHeader(FROM, self()));
    }

    /**
     * Joins the cluster, or begins it. Takes some seconds; fails when its ports are taken.
     *
     * @param namespace the installation's: others on the same cluster are not heard
     */
    public static Future<ServerLine> join(ClusterConfig config, String namespace) {
        return join(membership(config), bus(config), namespace);
    }

    static Future<ServerLine> join(Config membership, EventBusOptions bus, String namespace) {
        HazelcastClusterManager members = new HazelcastClusterManager(membership);
        return Vertx.builder()
                .with(new VertxOptions()
                        .setEventLoopPoolSize(1)
                        .setWorkerPoolSize(4)
                        .setInternalBlockingPoolSize(4)
                        .setPreferNativeTransport(true)
                        .setEventBusOptions(bus))
                .withClusterManager(members)
                .buildClustered()
                .map(vertx -> new HazelcastLine(vertx, members, namespace));
    }

    /** How the messages travel. */
    static EventBusOptions bus(ClusterConfig config) {
        EventBusOptions bus = new EventBusOptions()
                .setHost(config.host())
                .setClusterPublicHost(config.host())
                .setPort(config.port() + 1)
                .setClusterPingInterval(2_000)
                .setClusterPingReplyInterval(3_000)
                .setConnectTimeout(2_000)
                .setReconnectAttempts(0);
        ClusterTls tls = config.tls();
        if (tls != null) {
            bus.setSsl(true)
                    .setKeyCertOptions(new PemKeyCertOptions()
                            .addCertPath(tls.certificate().toString())
                            .addKeyPath(tls.key().toString()))
                    .setTrustOptions(
                            new PemTrustOptions().addCertPath(tls.authority().toString()))
                    .setClientAuth(ClientAuth.REQUIRED);
        }
        return bus;
    }

    /** How the servers find each other. */
    static Config membership(ClusterConfig cluster) {
        Config config = ConfigUtil.loadConfig();
        config.setClusterName(cluster.name());
        config.setProperty("hazelcast.local.localAddress", cluster.host());
        Map.of(
                        "hazelcast.logging.type", "slf4j",
                        "hazelcast.phone.home.enabled", "false",
                        "hazelcast.shutdownhook.enabled", "false",
                        "hazelcast.socket.bind.any", "false",
                        "hazelcast.heartbeat.interval.seconds", "1",
                        "hazelcast.max.no.heartbeat.seconds", "10",
                        "hazelcast.merge.first.run.delay.seconds", "10",
                        "hazelcast.merge.next.run.delay.seconds", "10",
                        "hazelcast.wait.seconds.before.join", "1",
                        "hazelcast.operation.thread.count", "2")
                .forEach(config::setProperty);
        config.setProperty(
                "hazelcast.graceful.shutdown.max.wait", "5"); // seconds; what is kept there is told anew by who stays
        NetworkConfig network =
                config.getNetworkConfig().setPort(cluster.port()).setPortAutoIncrement(false);
        network.setPublicAddress(cluster.host());
        JoinConfig join = network.getJoin();
        join.getAutoDetectionConfig().setEnabled(false);
        join.getMulticastConfig().setEnabled(false);
        join.getTcpIpConfig()
                .setEnabled(true)
                .setMembers(
                        cluster.members().stream().flatMap(HazelcastLine::all).toList());
        config.getSerializationConfig().setJavaSerializationFilterConfig(serialized());
        return config;
    }

    /**
     * What may be read by Java serialization: what Vert.x keeps in Hazelcast, and the exceptions that members answer each other with. Who
     * cannot read such an answer waits for a minute instead, in the middle of leaving. Of Java's collections only an empty list is among it:
     * chains of gadgets begin with the others.
     */
    private static JavaSerializationFilterConfig serialized() {
        JavaSerializationFilterConfig filter = new JavaSerializationFilterConfig().setDefaultsDisabled(true);
        filter.getWhitelist()
                .addPrefixes("io.vertx.spi.cluster.hazelcast.impl.", "com.hazelcast.")
                .addPackages("java.lang")
                .addClasses(
                        StackTraceElement[].class.getName(),
                        "java.util.Collections$EmptyList", // of an exception: what it suppressed
                        IOException.class.getName(),
                        CancellationException.class.getName(),
                        ExecutionException.class.getName(),
                        RejectedExecutionException.class.getName(),
                        TimeoutException.class.getName());
        return filter;
    }

    /**
     * A name that resolves to several servers stands for all of them: Hazelcast would take the first only, or none if one of them
     * is this server. Blocks.
     */
    private static Stream<String> all(String member) {
        int colon = member.indexOf(':');
        String name = colon < 0 ? member : member.substring(0, colon);
        String port = colon < 0 ? "" : member.substring(colon);
        if (name.isEmpty() || port.indexOf(':', 1) > 0) {
            return Stream.of(member); // an IPv6 address
        }
        try {
            InetAddress[] found = InetAddress.getAllByName(name);
            return found.length == 1
                    ? Stream.of(member)
                    : Stream.of(found)
                            .map(address -> address instanceof Inet6Address
                                    ? "[" + address.getHostAddress() + "]" + port
                                    : address.getHostAddress() + port);
        } catch (UnknownHostException notYet) {
            return Stream.of(member);
        }
    }

    @Override
    public String self() {
        return members.getNodeId();
    }

    @Override
    public boolean isAlone() {
        return !members.isActive() || members.getNodes().size() < 2;
    }

    @Override
    public void tellAll(Buffer message) {
        write(all, message);
    }

    @Override
    public void tell(String server, Buffer message) {
        if (members.getNodes().contains(server)) {
            write(each.computeIfAbsent(server, name -> vertx.eventBus().sender(prefix + name)), message);
        } else {
            each.remove(server);
        }
    }

    private void write(MessageProducer<Buffer> to, Buffer message) {
        int length = message.length();
        if (waitingBytes.addAndGet(length) > MAX_WAITING_BYTES) {
            waitingBytes.addAndGet(-length);
            return;
        }
        to.write(message).onComplete(sent -> waitingBytes.addAndGet(-length));
    }

    @Override
    public void listen(Consumer<Buffer> heard) {
        vertx.eventBus().<Buffer>consumer(prefix + self(), message -> heard.accept(message.body()));
        vertx.eventBus().<Buffer>consumer(prefix + "all", message -> {
            if (!self().equals(message.headers().get(FROM))) {
                heard.accept(message.body());
            }
        });
    }

    @Override
    public synchronized Future<Void> close() {
        Future<Void> closing = closed;
        if (closing == null) {
            closing = vertx.close();
            closed = closing;
        }
        return closing;
    }
}
