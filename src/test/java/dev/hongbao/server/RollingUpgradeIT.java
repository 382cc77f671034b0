package dev.hongbao.server;

import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.common.values.Release;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.packet.Packet;
import dev.hongbao.engine.redis.Script;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Crowd;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.ChildServer;
import dev.hongbao.web.access.TokenSigner;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two versions on one database under load. The older server is this version, in this JVM; the newer one is a process whose scripts have
 * another text, so other SHAs, and which has this version's for the previous ones.
 */
@ExtendWith(Servers.class)
@Tag("long")
class RollingUpgradeIT {
    private static final int SHARDS = 4;
    private static final Map<String, String> OPTIONS = Map.of("shards", Integer.toString(SHARDS));
    private static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    private Path directory;

    @Test
    void serversOfTwoVersionsWorkTogetherAndNeitherRecoversTheOthersShardsInTurn(TestServers servers) throws Exception {
        Books books = new Books(servers);
        try (TestEngine older = TestEngine.start(servers, 2, OPTIONS)) {
            // Given an older server at work on all shards
            older.deposit("alice", 1_000_000_000);
            Crowd crowd = new Crowd(older).start("alice");
            long atFirst = books.sumOfEpochs();

            try (ChildServer newer = startNewer(servers);
                    Claimers claimers = new Claimers(newer, aPacketOfEachShard(older))) {
                // When a newer one comes, then both work on the shards of both
                claimers.awaitClaims(200);
                crowd.awaitSettled(200);

                // Then the newer one has recovered what it owns once, and from then on nobody anything
                eventually(SOON, () -> assertThat(books.sumOfEpochs()).isEqualTo(atFirst + SHARDS / 2));
                claimers.awaitClaims(400);
                crowd.awaitSettled(400);
                assertThat(books.sumOfEpochs()).isEqualTo(atFirst + SHARDS / 2);

                // When the older one leaves
                crowd.stop();
                older.close();
                claimers.awaitClaims(200);

                // Then the same of the rest
                eventually(SOON, () -> assertThat(books.sumOfEpochs()).isEqualTo(atFirst + SHARDS));
                claimers.awaitClaims(200);

                // When somebody goes back
                try (TestEngine again = TestEngine.start(servers, 2, OPTIONS)) {
                    Crowd next = new Crowd(again).start("alice");
                    next.awaitSettled(400);
                    claimers.close();
                    newer.close();
                    next.awaitSettled(400);
                    next.stop();

                    // Then the older one finds its scripts in what the newer one has prepared
                    assertThat(books.sumOfEpochs()).isEqualTo(atFirst + SHARDS);
                    next.assertAnswersKept(servers);
                }
                crowd.assertAnswersKept(servers);
                claimers.assertAllClaimed(books);
            }
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

    private ChildServer startNewer(TestServers servers) throws Exception {
        Map<String, String> options = new HashMap<>(OPTIONS);
        options.put("redis.url", servers.redisUrl());
        options.put("postgres.url", servers.postgresAppUrl());
        options.put("postgres.owner-url", servers.postgresOwnerUrl());
        return ChildServer.start(
                directory.resolve("data"),
                // Resources are looked for there first.
                List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-Xbootclasspath/a:" + newerResources()),
                options,
                ProcessBuilder.Redirect.INHERIT);
    }

    /** What is different in the next version: all scripts by a line, and that it has this version's for the previous ones. */
    private Path newerResources() throws Exception {
        Path own = Path.of(Objects.requireNonNull(Script.class.getResource("/lua/claim.lua"))
                        .toURI())
                .getParent();
        Path lua = directory.resolve("newer").resolve("lua");
        Path previous = lua.resolve("previous");
        Files.createDirectories(lua.resolve("fence"));
        Files.createDirectories(previous.resolve("fence"));
        StringBuilder names = new StringBuilder();
        for (Path file : luaFiles(own)) {
            String name = file.getFileName().toString();
            Files.writeString(lua.resolve(name), Files.readString(file) + "-- as the next version has it\n");
            if (Script.read(name.replace(".lua", "")).contains("@generation@")) {
                Files.copy(file, previous.resolve(name));
                names.append(name.replace(".lua", "\n"));
            }
        }
        for (Path file : luaFiles(own.resolve("fence"))) {
            Files.copy(file, lua.resolve("fence").resolve(file.getFileName()));
            Files.copy(file, previous.resolve("fence").resolve(file.getFileName()));
        }
        Files.writeString(previous.resolve("scripts.txt"), names);
        Files.writeString(
                directory.resolve("newer").resolve("hongbao-release.properties"),
                "version=99.0.0\nprevious=" + Release.THIS.version() + "\n");
        return directory.resolve("newer");
    }

    private static List<Path> luaFiles(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".lua")).toList();
        }
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
                    TokenRules.secret(
                            server.config().web().token(),
                            server.config().engine().data()),
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
