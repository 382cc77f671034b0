package dev.hongbao.store.redis;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.testing.Killable;
import dev.hongbao.testing.LiveHeap;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.Sockets;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.ChildProcess;
import dev.hongbao.tools.local.LossyProxy;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

@ExtendWith(Servers.class)
class RedisLinkIT {
    private static final Duration SOON = Duration.ofSeconds(5);

    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private TestServers servers;
    private Vertx vertx;
    private Context context;
    private ServerLink link;

    @BeforeEach
    void open(@Killable TestServers killable) {
        servers = killable;
        vertx = Vertx.vertx();
        context = ((VertxInternal) vertx).createEventLoopContext();
        link = get(on(() -> ServerLink.open(
                vertx, RedisAddress.parse(servers.redisUrl()).options(), Duration.ofMillis(300), "test")));
    }

    @AfterEach
    void close() {
        close(link);
        get(vertx.close());
        assertThat(threads).as("threads that answers came on").hasSize(1);
    }

    /** Not {@link #on}: a close is told on any thread. */
    private void close(ServerLink open) {
        Promise<Void> closed = Promise.promise();
        context.runOnContext(now -> open.close().onComplete(closed));
        get(closed.future());
    }

    private <T> Future<T> on(Supplier<Future<T>> work) {
        Promise<T> done = Promise.promise();
        context.runOnContext(now -> work.get().onComplete(result -> {
            threads.add(Thread.currentThread());
            done.handle(result);
        }));
        return done.future();
    }

    private String ping() {
        return get(on(() -> link.send(Request.cmd(Command.PING)))).toString();
    }

    private static void assertFails(RedisFault.Kind kind, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        RedisFault.class, fault -> assertThat(fault.kind()).isEqualTo(kind));
    }

    private int connections() {
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            return redis.clientList().split("\n").length - 1;
        }
    }

    @Test
    void reconnectsAfterEveryLossAndLeavesNothingBehind() {
        for (int i = 0; i < 10; i++) {
            // When
            try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
                redis.clientKill(new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES));
            }
            // Then
            eventually(SOON, () -> assertThat(ping()).isEqualTo("PONG"));
        }
        eventually(SOON, () -> assertThat(connections()).isEqualTo(1));
    }

    /** A check of the books has links of its own, and may run when the server stops. */
    @Test
    void endsInSilenceWithItsVertx() {
        // Given
        Vertx other = Vertx.vertx();
        Promise<ServerLink> opened = Promise.promise();
        RedisOptions options = RedisAddress.parse(servers.redisUrl()).options();
        ((VertxInternal) other)
                .createEventLoopContext()
                .runOnContext(
                        now -> ServerLink.open(other, options, SOON, "ends").onComplete(opened));
        get(opened.future());
        Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        root.addAppender(logged);
        try {
            // When
            get(other.close());
        } finally {
            root.detachAppender(logged);
        }
        // Then
        eventually(SOON, () -> assertThat(connections()).isEqualTo(1));
        assertThat(logged.list).extracting(ILoggingEvent::getFormattedMessage).isEmpty();
    }

    @Test
    void whatWasInFlightWhenTheConnectionBrokeMayHaveRun() {
        // When
        Future<?> blocked =
                on(() -> link.send(Request.cmd(Command.BLPOP).arg("nothing").arg(1)));
        eventually(SOON, () -> {
            try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
                assertThat(redis.clientKill(
                                new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES)))
                        .isPositive();
            }
        });

        // Then
        assertFails(RedisFault.Kind.LOST, () -> get(blocked));
    }

    @Test
    void aRedisThatHangsIsLostInTimeAndFoundAgain() {
        // Given
        ChildProcess.signal("STOP", servers.redis().pid());
        try {
            // When, Then
            assertFails(RedisFault.Kind.LOST, this::ping);
            assertFails(RedisFault.Kind.DOWN, this::ping);
        } finally {
            ChildProcess.signal("CONT", servers.redis().pid());
        }
        eventually(SOON, () -> assertThat(ping()).isEqualTo("PONG"));
        eventually(SOON, () -> assertThat(connections()).isEqualTo(1));
    }

    @Test
    void aConnectThatIsNeverAnsweredIsLeftAndTheNextOneServes() throws Exception {
        URI redis = URI.create(servers.redisUrl());
        try (LossyProxy line = new LossyProxy(redis.getHost(), redis.getPort())) {
            // Given a server that takes connections, says nothing, and never ends them
            line.fallSilent();
            String through =
                    servers.redisUrl().replace(redis.getHost() + ":" + redis.getPort(), "127.0.0.1:" + line.port());
            ServerLink silent = get(on(() -> Future.succeededFuture(
                    ServerLink.start(vertx, RedisAddress.parse(through).options(), Duration.ofMillis(300), "silent"))));
            get(vertx.timer(1, TimeUnit.SECONDS)); // three connects

            // When
            line.comeBack();

            // Then
            eventually(
                    SOON,
                    () -> assertThat(get(on(() -> silent.send(Request.cmd(Command.PING))))
                                    .toString())
                            .isEqualTo("PONG"));
            assertThat(Sockets.halfClosedTo(line.port())).isEmpty();
            context.runOnContext(now -> silent.close());
        }
    }

    @Test
    void aPasswordThatHasChangedIsToldOncePerLoss() {
        Logger log = (Logger) LoggerFactory.getLogger(ServerLink.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            // Given
            redis.aclSetUser("linked", "on", ">old", "~*", "+@all");
            String url = servers.redisUrl().replaceFirst("//.*@", "//linked:old@");
            ServerLink linked = get(on(
                    () -> ServerLink.open(vertx, RedisAddress.parse(url).options(), Duration.ofSeconds(2), "linked")));
            log.addAppender(logged);
            for (int loss = 1; loss <= 2; loss++) {
                // When
                redis.configResetStat();
                redis.aclSetUser("linked", "resetpass", ">new");
                redis.clientKill(new ClientKillParams().user("linked"));

                // Then one line has the reason, of several attempts
                eventually(
                        SOON,
                        () -> assertThat(redis.info("errorstats")).containsPattern("WRONGPASS:count=([4-9]|\\d\\d)"));
                assertThat(logged.list)
                        .extracting(ILoggingEvent::getFormattedMessage)
                        .filteredOn(line -> line.contains("linked cannot connect") && line.contains("WRONGPASS"))
                        .hasSize(loss);

                // And when the password is right again, it serves
                redis.aclSetUser("linked", "resetpass", ">old");
                eventually(SOON, () -> get(on(() -> linked.send(Request.cmd(Command.PING)))));
            }
            close(linked);
            redis.aclDelUser("linked");
        } finally {
            log.detachAppender(logged);
        }
    }

    @Test
    void aReplicaIsNotStayedWith() {
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            // Given
            long before = clientId();
            redis.replicaof("127.0.0.1", 1);
            try {
                // When, Then
                assertFails(
                        RedisFault.Kind.READ_ONLY,
                        () -> get(on(() ->
                                link.send(Request.cmd(Command.SET).arg("a").arg("b")))));
                eventually(SOON, () -> assertThat(clientId()).isNotEqualTo(before));
            } finally {
                redis.replicaofNoOne();
            }
        }
    }

    private long clientId() {
        return get(on(() -> link.send(Request.cmd(Command.CLIENT).arg("ID")))).toLong();
    }

    @Test
    void aServerThatIsAwayForLongFillsNoMemory() throws Exception {
        // Given one that nobody listens for
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        RedisOptions nobody = RedisAddress.parse("redis://127.0.0.1:" + port).options();
        LiveHeap before = LiveHeap.now();

        // When it is tried again and again
        for (int tried = 0; tried < 300; tried++) {
            assertThatThrownBy(() -> get(on(() -> ServerLink.open(vertx, nobody, Duration.ofSeconds(1), "away"))))
                    .isNotNull();
        }

        // Then no try is remembered
        assertThat(LiveHeap.now().grownSince(before, "io.vertx.core.net")).isLessThan(20_000);
    }
}
