package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.hongbao.store.embedded.EmbeddedRedis;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.store.redis.Subscription;
import dev.hongbao.testing.RedisNodes;
import dev.hongbao.testing.SentinelServers;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.LocalRedisCluster;
import dev.hongbao.tools.local.LossyProxy;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Jedis;

@ExtendWith(Servers.class)
class RedisLineIT {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Duration TIMEOUT = Duration.ofSeconds(1);
    private static final String NAMESPACE = "line";
    private static final Buffer KEY = Buffer.buffer("0123456789abcdef0123456789abcdef");
    private static final Buffer NEXT_KEY = Buffer.buffer("fedcba9876543210fedcba9876543210");

    private static final String BEAT = "beat";

    private final Vertx vertx = Vertx.vertx();
    private final List<End> ends = new ArrayList<>();
    private URI redis;

    /** A server on the line, and what it has heard, in order. */
    private final class End {
        final Context context = ((io.vertx.core.internal.VertxInternal) vertx).createEventLoopContext();
        final List<String> heard = new CopyOnWriteArrayList<>();
        final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
        final RedisLine line;

        End(String url, Buffer... keys) {
            line = new RedisLine(
                    vertx,
                    () -> RedisLinks.open(vertx, url, TIMEOUT, "line"),
                    () -> Future.succeededFuture(List.of(keys)),
                    NAMESPACE,
                    metrics);
            ends.add(this);
            on(() -> {
                line.listen(message -> heard.add(message.toString()));
                return Future.succeededFuture();
            });
        }

        final <T> T on(Supplier<Future<T>> work) {
            Promise<T> done = Promise.promise();
            context.runOnContext(now -> work.get().onComplete(done));
            return get(done.future());
        }

        void say(String... texts) {
            on(() -> {
                for (String text : texts) {
                    line.tellAll(Buffer.buffer(text));
                }
                return Future.succeededFuture();
            });
        }

        /** But for beats. */
        List<String> words() {
            return heard.stream().filter(word -> !word.equals(BEAT)).toList();
        }

        double forged() {
            return ServerMessages.counter(metrics, "forged").count();
        }
    }

    @BeforeEach
    void find(TestServers servers) {
        redis = URI.create(servers.redisUrl());
    }

    @AfterEach
    void close() {
        ends.forEach(end -> end.on(end.line::close));
        get(vertx.close());
    }

    private End end(Buffer... keys) {
        return new End(redis.toString(), keys);
    }

    /** Until each hears the other, each says something; as a server does every second. */
    private static void awaitHeard(End one, End other) {
        one.heard.clear();
        other.heard.clear();
        eventually(SOON, () -> {
            one.say(BEAT);
            other.say(BEAT);
            assertThat(one.heard).contains(BEAT);
            assertThat(other.heard).contains(BEAT);
        });
    }

    private static long published(Jedis redis) {
        return redis.info("commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_publish:"))
                .map(line -> line.replaceAll("cmdstat_publish:calls=(\\d+),.*", "$1"))
                .mapToLong(Long::parseLong)
                .sum();
    }

    @Test
    void serversHearEachOtherAndNotThemselves() {
        // Given
        End one = end(KEY);
        End two = end(KEY);
        awaitHeard(one, two);
        End three = end(KEY);
        awaitHeard(one, three);
        try (Jedis client = new Jedis(redis)) {
            long before = published(client);

            // When one says several things in one pass of its loop
            one.on(() -> {
                one.line.tellAll(Buffer.buffer("a"));
                one.line.tell(two.line.self(), Buffer.buffer("only two"));
                one.line.tellAll(Buffer.buffer("b"));
                one.line.tell("nobody", Buffer.buffer("lost"));
                return Future.succeededFuture();
            });

            // Then each channel has got one message, also the one that nobody hears
            eventually(SOON, () -> {
                assertThat(two.words()).containsExactlyInAnyOrder("a", "b", "only two");
                assertThat(three.words()).containsExactly("a", "b");
                assertThat(published(client) - before).isEqualTo(3);
            });
            assertThat(one.words()).isEmpty();
        }
    }

    @Test
    void whatIsToldBeforeTheEndIsHeard() {
        // Given
        End one = end(KEY);
        End two = end(KEY);
        awaitHeard(one, two);

        // When
        one.on(() -> {
            one.line.tellAll(Buffer.buffer("farewell"));
            return one.line.close();
        });

        // Then
        eventually(SOON, () -> assertThat(two.heard).contains("farewell"));
    }

    @Test
    void whoDoesNotKnowTheKeyIsNotBelieved() {
        // Given two servers, and what one said to the other
        End one = end(KEY);
        End two = end(KEY);
        awaitHeard(one, two);
        End stranger = end(NEXT_KEY);

        // When somebody says what he likes to one of them, and what another key has signed comes to all
        try (Jedis client = new Jedis(redis)) {
            byte[] own = Installation.channel(NAMESPACE, two.line.self()).getBytes(StandardCharsets.UTF_8);
            for (int length : new int[] {0, 31, 32, 200}) {
                client.publish(own, new byte[length]);
            }
        }
        eventually(SOON, () -> {
            stranger.say("stranger");
            assertThat(one.forged()).isPositive();
            assertThat(two.forged()).isGreaterThan(4);
        });

        // Then
        one.say("last");
        eventually(SOON, () -> assertThat(two.words()).containsExactly("last"));
        assertThat(one.heard).doesNotContain("stranger");
    }

    @Test
    void aWordToOneServerIsNoneToAnother() {
        // Given somebody who hears what is said to one server
        End one = end(KEY);
        End two = end(KEY);
        awaitHeard(one, two);
        List<byte[]> overheard = new CopyOnWriteArrayList<>();
        Thread thread = new Thread(() -> {
            try (Jedis client = new Jedis(redis)) {
                client.subscribe(
                        new redis.clients.jedis.BinaryJedisPubSub() {
                            @Override
                            public void onMessage(byte[] channel, byte[] message) {
                                overheard.add(message);
                                unsubscribe();
                            }
                        },
                        channel(two));
            }
        });
        thread.start();
        eventually(SOON, () -> {
            one.on(() -> {
                one.line.tell(two.line.self(), Buffer.buffer("only two"));
                return Future.succeededFuture();
            });
            assertThat(overheard).isNotEmpty();
        });

        // When he says it to all
        double before = two.forged();
        try (Jedis client = new Jedis(redis)) {
            client.publish(Installation.channel(NAMESPACE, "all").getBytes(StandardCharsets.UTF_8), overheard.get(0));
        }

        // Then
        eventually(SOON, () -> assertThat(two.forged()).isEqualTo(before + 1));
    }

    private static byte[] channel(End end) {
        return Installation.channel(NAMESPACE, end.line.self()).getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void whileTheKeyChangesTheOneBeforeIsBelieved() {
        // Given a server that has read the next key, and one that has not
        End next = end(NEXT_KEY, KEY);
        End before = end(KEY);

        // Then
        eventually(SOON, () -> {
            before.say("before");
            next.say("next");
            assertThat(next.heard).contains("before");
            assertThat(before.forged()).isPositive();
        });
        assertThat(before.heard).isEmpty();
    }

    @Test
    void aSubscriptionThatHasFallenSilentIsMadeAnew() throws Exception {
        try (LossyProxy proxy = new LossyProxy(redis.getHost(), redis.getPort())) {
            // Given
            End one = new End(redis.toString().replace(":" + redis.getPort(), ":" + proxy.port()), KEY);
            End two = end(KEY);
            awaitHeard(one, two);

            // When nothing comes over the connections that are open, and nobody is told
            proxy.swallow();

            // Then
            awaitHeard(one, two);

            // When they break
            proxy.breakConnections();

            // Then
            awaitHeard(one, two);
        }
    }

    @Test
    void withoutTheRightNobodyIsHeardAndNothingElseHappens() {
        try (Jedis admin = new Jedis(redis)) {
            // Given a server that may neither publish nor subscribe, and one that may only publish
            Logger log = (Logger) LoggerFactory.getLogger(Subscription.class);
            ListAppender<ILoggingEvent> logged = new ListAppender<>();
            logged.start();
            log.addAppender(logged);
            user(admin, "deaf", "-publish", "-subscribe");
            user(admin, "half", "-subscribe");
            End deaf = new End("redis://deaf:secret@" + redis.getHost() + ":" + redis.getPort(), KEY);
            End half = new End("redis://half:secret@" + redis.getHost() + ":" + redis.getPort(), KEY);
            End two = end(KEY);
            eventually(SOON, () -> {
                half.say("half");
                deaf.say("deaf");
                assertThat(two.heard).contains("half");
            });
            long connections = connections(admin);

            // When it has not heard itself for longer than a subscription may be silent
            long until = System.nanoTime() + Duration.ofSeconds(4).toNanos();
            eventually(SOON, () -> {
                half.say("half");
                assertThat(System.nanoTime()).isGreaterThan(until);
            });

            // Then the log names the command, and it does not connect again and again
            log.detachAppender(logged);
            assertThat(logged.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .anyMatch(line -> line.matches("Redis refuses SUBSCRIBE, .*: NOPERM .*'subscribe'.*"));
            assertThat(connections(admin)).isEqualTo(connections);
            assertThat(deaf.heard).isEmpty();
            assertThat(half.heard).isEmpty();
            assertThat(two.heard).doesNotContain("deaf");
        }
    }

    private static void user(Jedis admin, String name, String... without) {
        List<String> rules = new ArrayList<>(List.of("reset", "on", ">secret"));
        rules.addAll(List.of(EmbeddedRedis.RULES.split(" ")));
        rules.addAll(List.of(without));
        admin.aclSetUser(name, rules.toArray(String[]::new));
    }

    private static long connections(Jedis redis) {
        return redis.info("stats")
                .lines()
                .filter(line -> line.startsWith("total_connections_received:"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
                .sum();
    }

    @Test
    @Tag("long")
    void serversOfAClusterHearEachOtherWhoeverOfItsMastersDies() {
        try (LocalRedisCluster cluster = RedisNodes.cluster(3, true)) {
            // Given
            End one = new End(cluster.url(), KEY);
            End two = new End(cluster.url(), KEY);
            awaitHeard(one, two);

            // When one freezes, Then
            cluster.nodes().freeze(0);
            awaitHeard(one, two);
            cluster.nodes().thaw(0);

            // When another one is killed, Then
            cluster.nodes().kill(1);
            awaitHeard(one, two);
        }
    }

    @Test
    @Tag("long")
    void serversHearEachOtherThroughTheMasterThatTheSentinelsName() {
        try (SentinelServers servers = SentinelServers.start()) {
            // Given
            End one = new End(servers.url(), KEY);
            End two = new End(servers.url(), KEY);
            awaitHeard(one, two);

            // When, Then
            servers.failOver();
            awaitHeard(one, two);

            // When, Then
            servers.kill(0);
            awaitHeard(one, two);
        }
    }
}
