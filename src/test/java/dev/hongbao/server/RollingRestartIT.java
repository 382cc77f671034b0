package dev.hongbao.server;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.access.TokenTrust;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Crowd;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.ChildServer;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.UserId;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Servers are replaced one by one under load: one in this JVM, the other a process. */
@ExtendWith(Servers.class)
@Tag("long")
class RollingRestartIT {
    private static final int SHARDS = 4;
    private static final Map<String, String> OPTIONS = Map.of("shards", Integer.toString(SHARDS));
    private static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    private Path directory;

    @Test
    void serversAreReplacedOneByOneAndNoShardIsRecovered(TestServers servers) throws Exception {
        Books books = new Books(servers);
        try (TestEngine first = TestEngine.start(servers, 2, OPTIONS)) {
            // Given a server at work on all shards
            first.deposit("alice", 1_000_000_000);
            Crowd crowd = new Crowd(first).start("alice");
            crowd.awaitSettled(200);
            long atFirst = books.sumOfEpochs();

            try (ChildServer second = start(servers);
                    Claimers claimers = new Claimers(second, aPacketOfEachShard(first))) {
                // When another one comes, then both work on the shards of both
                claimers.awaitClaims(400);
                crowd.awaitSettled(400);

                // When the first one leaves
                crowd.stop();
                first.close();
                claimers.awaitClaims(400);

                // When it comes again, and the other one leaves
                try (TestEngine again = TestEngine.start(servers, 2, OPTIONS)) {
                    Crowd next = new Crowd(again).start("alice");
                    next.awaitSettled(400);
                    claimers.close();
                    second.close();
                    next.awaitSettled(400);
                    next.stop();
                    next.assertAnswersKept(servers);
                }
                crowd.assertAnswersKept(servers);
                claimers.assertAllClaimed(books);
            }

            // Then whoever took a shard over went on where it was
            assertThat(books.sumOfEpochs()).isEqualTo(atFirst);
        }
        books.assertReconciled();
    }

    private static List<Packet> aPacketOfEachShard(TestEngine engine) {
        Map<Integer, Packet> packets = new HashMap<>();
        while (packets.size() < SHARDS) {
            Packet packet = engine.send("alice", 1_000_000, 10_000);
            packets.put(packet.shard(), packet);
        }
        return List.copyOf(packets.values());
    }

    private ChildServer start(TestServers servers) throws Exception {
        Map<String, String> options = new HashMap<>(OPTIONS);
        options.put("redis.url", servers.redisUrl());
        options.put("postgres.url", servers.postgresAppUrl());
        options.put("postgres.owner-url", servers.postgresOwnerUrl());
        return ChildServer.start(
                directory.resolve("data"),
                List.of("-Xmx256m", "-XX:TieredStopAtLevel=1"),
                options,
                ProcessBuilder.Redirect.INHERIT);
    }

    /** Users who claim from a server over HTTP, each until there is an answer. */
    private static final class Claimers implements AutoCloseable {
        private static final int THREADS = 4;

        private final HttpClient http = HttpClient.newHttpClient();
        private final ChildServer server;
        private final TokenSigner signer;
        private final List<Packet> packets;
        private final AtomicInteger users = new AtomicInteger();
        private final AtomicInteger claimed = new AtomicInteger();
        private final AtomicInteger again = new AtomicInteger();
        private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
        private final List<Thread> threads;
        private volatile boolean stopping;

        Claimers(ChildServer server, List<Packet> packets) throws IOException {
            this.server = server;
            this.signer = new TokenSigner(
                    TokenTrust.secret(
                            server.config().web().token(),
                            server.config().engine().tokenKeyFile()),
                    null,
                    null,
                    Clock.systemUTC());
            this.packets = packets;
            this.threads = Stream.generate(() -> new Thread(this::run, "claimer"))
                    .limit(THREADS)
                    .toList();
            threads.forEach(Thread::start);
        }

        private void run() {
            while (!stopping) {
                int number = users.incrementAndGet();
                try {
                    claim("over-http-" + number, packets.get(number % packets.size()));
                } catch (IOException | InterruptedException fault) {
                    wrong.add(fault.toString());
                }
            }
        }

        private void claim(String user, Packet packet) throws IOException, InterruptedException {
            String token = signer.sign(new UserId(user), Set.of(TestEngine.GROUP), Role.USER, Duration.ofHours(1));
            HttpRequest request = HttpRequest.newBuilder(
                            URI.create("http://127.0.0.1:" + server.port() + "/v1/packets/" + packet.id() + "/claims"))
                    .header("Authorization", "Bearer " + token)
                    .POST(HttpRequest.BodyPublishers.noBody())
                    .build();
            HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
            for (int tries = 0; answer.statusCode() == 503 && tries < 10; tries++) {
                again.incrementAndGet();
                answer = http.send(request, HttpResponse.BodyHandlers.ofString());
            }
            if (answer.statusCode() == 201 || answer.statusCode() == 200) {
                claimed.incrementAndGet();
            } else {
                wrong.add(user + ": " + answer.statusCode() + " " + answer.body());
            }
        }

        void awaitClaims(int more) {
            int before = claimed.get();
            eventually(SOON, () -> assertThat(claimed.get()).as("claims").isGreaterThan(before + more));
        }

        /** Each that was answered is in the books. @throws AssertionError when one was refused, too */
        void assertAllClaimed(Books books) {
            System.out.printf("%d claims over HTTP, %d of them asked again%n", claimed.get(), again.get());
            assertThat(wrong).isEmpty();
            assertThat(books.longOf("select count(*) from claim where user_id like 'over-http-%'"))
                    .isEqualTo(claimed.get());
        }

        /** Idempotent. */
        @Override
        public void close() throws InterruptedException {
            stopping = true;
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }
}
