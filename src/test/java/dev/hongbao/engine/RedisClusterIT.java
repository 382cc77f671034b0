package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.doctor.Check.Diagnosis;
import dev.hongbao.doctor.Checks;
import dev.hongbao.draw.Draw;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.SendCommand;
import dev.hongbao.server.HongbaoServer;
import dev.hongbao.server.Operations;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.ClusterView;
import dev.hongbao.testing.Crowd;
import dev.hongbao.testing.RedisNodes;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.local.LocalPorts;
import dev.hongbao.tools.local.LocalRedisCluster;
import dev.hongbao.tools.local.RedisProcesses;
import dev.hongbao.values.UnavailableException;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.util.JedisClusterCRC16;

/** Three masters and three replicas, made once: the tests leave the cluster as it is then, and the next one goes on. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RedisClusterIT {
    /** The last command of a connection that begins, or ends after it has asked for the cluster's map. */
    private static final Pattern QUESTION = Pattern.compile(" cmd=(NULL|hello|auth|client\\||cluster\\|)");

    private static final Duration SOON = Duration.ofSeconds(20);

    private static final int LAST_SLOT = 16_383;
    private static final int SHARDS = 8;
    private static final Map<String, String> OPTIONS = Map.of("shards", Integer.toString(SHARDS));

    @TempDir
    private Path directory;

    private TestServers servers;
    private StoreAddresses stores;
    private Books books;
    private LocalRedisCluster cluster;
    private TestEngine engine;

    @BeforeAll
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        cluster = RedisNodes.cluster(3, true);
        StoreAddresses postgres = TestEngine.stores(servers);
        stores = new StoreAddresses(cluster.url(), postgres.owner(), postgres.app());
        engine = TestEngine.start(stores, 2, OPTIONS);
        engine.deposit("alice", 1_000_000_000);
    }

    @AfterAll
    void stop() {
        if (engine != null) {
            engine.close();
        }
        if (cluster != null) {
            cluster.close();
        }
    }

    /** A packet of each shard. */
    private Map<Integer, Packet> packetsByShard() {
        Map<Integer, Packet> packets = new HashMap<>();
        for (int i = 0; i < 400 && packets.size() < SHARDS; i++) {
            Packet packet = engine.send("alice", 10_000, 1_000);
            packets.putIfAbsent(packet.shard(), packet);
        }
        assertThat(packets).hasSize(SHARDS);
        return packets;
    }

    private void assertReconciled() {
        eventually(SOON, () -> assertThat(findings()).isEmpty());
    }

    private List<String> findings() throws Exception {
        return Operations.reconcile(stores, finding -> {}).stream()
                .flatMap(finding -> finding.lines().stream())
                .toList();
    }

    private String tag(int shard) {
        return books.stamps().get(shard);
    }

    @Test
    @Order(1)
    void everyShardSettlesAtItsNode() throws Exception {
        // Given
        Map<Integer, Packet> packets = packetsByShard();

        // When
        packets.forEach(
                (shard, packet) -> assertThat(engine.claim(packet, "bob").kind())
                        .as("shard " + shard)
                        .isEqualTo(Kind.CLAIMED));

        // Then all masters are used, and each has the keys of its shards and of no other
        Set<Integer> used = new HashSet<>();
        for (int shard = 0; shard < SHARDS; shard++) {
            int node = ClusterView.nodeOf(cluster, tag(shard), 0);
            used.add(node);
            try (Jedis redis = cluster.nodes().client(node)) {
                assertThat(redis.exists(tag(shard) + ":journal")).isTrue();
            }
        }
        assertThat(used).containsExactlyInAnyOrder(0, 1, 2);
        assertReconciled();

        // And a check of the books finds what is wrong at one node
        Packet wrong = packets.values().stream()
                .filter(packet -> ClusterView.nodeOf(cluster, tag(packet.shard()), 0) == 2)
                .findFirst()
                .orElseThrow();
        setNextSlot(wrong, "0");
        assertThat(findings()).anyMatch(line -> line.contains(wrong.id().toString()));
        setNextSlot(wrong, "1");
        assertReconciled();
    }

    private void setNextSlot(Packet packet, String slot) {
        try (Jedis redis = cluster.nodes().client(ClusterView.nodeOf(cluster, tag(packet.shard()), 0))) {
            redis.hset(tag(packet.shard()) + ":p:" + packet.id(), "#", slot);
        }
    }

    @Test
    @Order(1)
    void drawsAndPasscodesWorkAtEveryNode() {
        // Given draws and passcodes on every node
        TestDraws draws = new TestDraws(engine);
        Set<Integer> nodes = new HashSet<>();
        for (int i = 0; i < 100 && nodes.size() < 3; i++) {
            Draw weights = draws.create("{mode: weights, prizes: [{name: a, weight: 1}]}");
            Draw schedule = draws.create("{mode: schedule, closesAt: '%s', schedule: {periodSeconds: 3600},"
                            .formatted(Instant.now().plus(Duration.ofHours(2)))
                    + " prizes: [{name: a, quota: 1, stock: 1}], fallback: {name: b}}");
            Packet locked = engine.send(
                    "alice",
                    SendCommand.of(TestEngine.GROUP, Packet.Kind.LUCKY, TestEngine.CNY, 1_000, 10)
                            .passcode("open sesame")
                            .build());

            // When, Then
            assertThat(get(draws.play(0, weights, "bob")).plays()).hasSize(1);
            assertThat(get(draws.play(1, schedule, "bob")).plays()).hasSize(1);
            assertThat(claim(locked, "bob", "open up")).isEqualTo(Kind.WRONG_PASSCODE);
            assertThat(claim(locked, "bob", "open sesame")).isEqualTo(Kind.CLAIMED);
            nodes.add(ClusterView.nodeOf(cluster, tag(weights.shard()), 0));
        }
        assertThat(nodes).hasSize(3);
        assertReconciled();
    }

    private Kind claim(Packet packet, String user, String passcode) {
        return get(engine.loop(0)
                        .call(services -> services.claims.claim(TestEngine.member(user), packet.id(), passcode)))
                .kind();
    }

    @Test
    @Order(1)
    void aStartRefusesAClusterThatStopsAsAWholeAndANodeThatIsNamedAlone() {
        try (Jedis node = cluster.nodes().client(2)) {
            node.configSet("cluster-require-full-coverage", "yes");
            try {
                assertThatThrownBy(() -> HongbaoServer.start(config(cluster.url())))
                        .isInstanceOf(Checks.StartRefusedException.class)
                        .hasMessageContaining("cluster-require-full-coverage")
                        .hasMessageContaining("set it to no");
            } finally {
                node.configSet("cluster-require-full-coverage", "no");
            }
        }
        assertThatThrownBy(() -> HongbaoServer.start(config(cluster.nodes().url(1))))
                .isInstanceOf(Checks.StartRefusedException.class)
                .hasMessageContaining("redis+cluster");
    }

    @Test
    @Order(1)
    void aSeedThatIsSilentKeepsNobodyWaiting() throws Exception {
        // Given a first seed that takes connections and says nothing
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            String url = cluster.url().replaceFirst("@", "@127.0.0.1:" + silent.getLocalPort() + ",");

            // When
            Future<Void> opened = engine.loop(0)
                    .call(services -> RedisLinks.open(engine.vertx(), url, Duration.ofSeconds(10), "test")
                            .compose(RedisLinks::close));

            // Then it is the next that answers
            get(opened.timeout(5, TimeUnit.SECONDS));
        }
    }

    @Test
    @Order(1)
    void aSeedThatIsInNoClusterIsPassedOver() {
        // Given a first seed that was never told of the cluster
        try (RedisProcesses blank = RedisNodes.processes("blank")) {
            blank.start(Map.of("cluster-enabled", "yes", "cluster-port", Integer.toString(LocalPorts.free())));
            String authority = cluster.url().substring("redis+cluster://".length());
            String userInfo = authority.substring(0, authority.indexOf('@') + 1);
            try (Jedis node = blank.client(0)) {
                node.configSet("requirepass", userInfo.substring(1, userInfo.length() - 1));
            }
            String url = cluster.url().replace(userInfo, userInfo + blank.address(0) + ",");

            for (int i = 0; i < 50; i++) {
                // When
                Future<Void> opened = engine.loop(0)
                        .call(services -> RedisLinks.open(engine.vertx(), url, Duration.ofSeconds(10), "test")
                                .compose(links -> links.linkFor("any")
                                        .send(Request.cmd(Command.GET).arg("any"))
                                        .eventually(links::close))
                                .mapEmpty());

                // Then it is another that tells of the masters
                get(opened);
            }
        }
    }

    private HongbaoConfig config(String redisUrl) {
        return HongbaoConfig.of(Map.of(
                "data.dir", directory.toString(),
                "http.port", "0",
                "redis.url", redisUrl,
                "postgres.url", servers.postgresAppUrl(),
                "postgres.owner-url", servers.postgresOwnerUrl()));
    }

    @Test
    @Order(2)
    void oneShardMovesToAnotherNodeWhilePeopleClaim() {
        // Given
        int shard = 0;
        String tag = tag(shard);
        int slot = JedisClusterCRC16.getSlot(tag);
        int from = ClusterView.nodeOf(cluster, tag, 0);
        int to = (from + 1) % 3;
        List<String> before = books.stamps();
        Packet packet = packetsByShard().get(shard);
        Set<String> connections =
                connections(from, to, line -> !QUESTION.matcher(line).find());
        assertThat(engine.claim(packet, "early").kind()).isEqualTo(Kind.CLAIMED);
        Crowd crowd = new Crowd(engine).start("alice");
        crowd.awaitSettled(400);
        connections.retainAll(connections(from, to, line -> true));

        // When some of its keys are at either node: a claim has no answer, and does not wait for ever
        cluster.beginMigration(slot, from, to);
        cluster.moveKey(tag + ":p:" + packet.id(), from, to);
        crowd.awaitSettled(200);
        assertThatThrownBy(() -> engine.claim(packet, "during")).isInstanceOf(UnavailableException.class);
        cluster.endMigration(slot, from, to);

        // Then the shard recovers there, and no other one does, nor is a connection lost
        eventually(
                SOON, () -> assertThat(engine.claim(packet, "late").kind()).isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED));
        assertThat(engine.claim(packet, "early").kind()).isEqualTo(Kind.ALREADY_CLAIMED);
        crowd.awaitSettled(200);
        crowd.stop();
        crowd.assertAnswersKept(servers);
        assertThat(connections).isNotEmpty();
        assertThat(connections(from, to, line -> true)).containsAll(connections);
        List<String> after = books.stamps();
        for (int other = 0; other < SHARDS; other++) {
            if (other == shard) {
                assertThat(after.get(other)).isNotEqualTo(before.get(other));
            } else {
                assertThat(after.get(other)).isEqualTo(before.get(other));
            }
        }
        assertReconciled();
    }

    @Test
    @Order(2)
    void aRangeOfSlotsMovesWithItsShardsWhilePeopleClaim() {
        // Given a node of several shards, and the slots of two of them with their neighbours
        int from = IntStream.range(0, 3)
                .filter(node -> shardsOf(node).size() > 1)
                .findFirst()
                .orElseThrow();
        int to = (from + 1) % 3;
        List<Integer> moving = shardsOf(from).stream().limit(2).toList();
        List<Integer> slots = moving.stream()
                .map(shard -> JedisClusterCRC16.getSlot(tag(shard)))
                .flatMap(slot -> IntStream.rangeClosed(Math.max(0, slot - 10), Math.min(LAST_SLOT, slot + 10))
                        .boxed())
                .filter(slot -> ClusterView.nodeOf(cluster, slot, from) == from)
                .distinct()
                .toList();
        List<String> before = books.stamps();
        Crowd crowd = new Crowd(engine).start("alice");
        crowd.awaitSettled(200);

        // When they move, one after the other
        for (int slot : slots) {
            cluster.beginMigration(slot, from, to);
            cluster.endMigration(slot, from, to);
        }

        // Then both shards are served at the other node, and the others as before
        awaitServed(packetsByShard(), "moved");
        crowd.awaitSettled(200);
        crowd.stop();
        crowd.assertAnswersKept(servers);
        List<String> after = books.stamps();
        for (int shard = 0; shard < SHARDS; shard++) {
            assertThat(after.get(shard).equals(before.get(shard)))
                    .as("shard " + shard + " was not recovered")
                    .isEqualTo(!moving.contains(shard));
        }
        assertThat(shardsOf(to)).containsAll(moving);
        assertReconciled();
    }

    /** Of two nodes, by node and id: those of the engine, and of who else is connected now. */
    private Set<String> connections(int from, int to, Predicate<String> which) {
        Set<String> connections = new HashSet<>();
        for (int node : new int[] {from, to}) {
            try (Jedis redis = cluster.nodes().client(node)) {
                String own = Long.toString(redis.clientId());
                redis.clientList()
                        .lines()
                        .filter(which)
                        .map(line -> line.substring("id=".length(), line.indexOf(' ')))
                        .filter(id -> !id.equals(own))
                        .forEach(id -> connections.add(node + " " + id));
            }
        }
        return connections;
    }

    private Set<Integer> shardsOf(int master) {
        Set<Integer> shards = new HashSet<>();
        for (int shard = 0; shard < SHARDS; shard++) {
            if (ClusterView.nodeOf(cluster, tag(shard), master) == master) {
                shards.add(shard);
            }
        }
        return shards;
    }

    private static Map<Integer, Packet> without(Map<Integer, Packet> packets, Set<Integer> shards) {
        Map<Integer, Packet> others = new HashMap<>(packets);
        others.keySet().removeAll(shards);
        assertThat(others).isNotEmpty();
        return others;
    }

    @Test
    @Order(4)
    void theOtherShardsGoOnWhileAMasterIsSilentAndItsOwnWhenItsReplicaHasTakenOver() {
        // Given
        Map<Integer, Packet> packets = packetsByShard();
        int master = ClusterView.nodeOf(cluster, tag(2), 0);
        Set<Integer> silent = shardsOf(master);
        Map<Integer, Packet> up = without(packets, silent);
        long usual = slowest(up, "unfrozen");

        // When
        cluster.nodes().freeze(master);
        long begun = System.nanoTime();

        // Then a claim there has no answer, in time, and the others are quick all the while
        Packet stuck = packets.get(silent.iterator().next());
        Future<?> waiting = engine.claim(0, stuck, "bob");
        long slow = 0;
        for (int round = 0; !waiting.isComplete(); round++) {
            slow = Math.max(slow, slowest(up, "frozen-" + round));
            LockSupport.parkNanos(10_000_000); // a packet has a thousand shares
        }
        assertThatThrownBy(() -> get(waiting)).isInstanceOf(UnavailableException.class);
        long answered = (System.nanoTime() - begun) / 1_000_000;

        // And when the replica has taken over, claims are taken there
        awaitServed(packets, "taken-over");
        long back = (System.nanoTime() - begun) / 1_000_000;
        System.out.printf(
                "slowest claim of %d shards: %d ms before, %d ms while master %d is silent; its own: refused after %d ms, back after %d ms%n",
                up.size(), usual, slow, master, answered, back);
        assertThat(slow).as("ms of the slowest claim on a shard that is up").isLessThan(1_000);
        assertThat(answered).as("ms until the answer that nothing is known").isLessThan(4_000);

        // When the old master goes on as if nothing had been, Then it changes nothing
        List<String> stamps = books.stamps();
        cluster.nodes().thaw(master);
        cluster.awaitOk();
        eventually(SOON, () -> assertThat(cluster.info(master, "replication")).contains("role:slave"));
        awaitServed(packets, "thawed");
        assertThat(books.stamps()).isEqualTo(stamps);
        assertReconciled();
    }

    @Test
    @Order(5)
    void theOtherShardsGoOnWhileAThirdOfTheClusterIsDown() {
        // Given
        Map<Integer, Packet> packets = packetsByShard();
        int master = ClusterView.nodeOf(cluster, tag(2), 0);
        int replica = (master + 3) % 6;
        Set<Integer> down = shardsOf(master);
        Map<Integer, Packet> up = without(packets, down);
        long usual = slowest(up, "before");
        long epochs = books.sumOfEpochs();

        // When
        cluster.nodes().kill(replica);
        cluster.nodes().kill(master);

        // Then right away, and later
        long slow = Math.max(slowest(up, "at-once"), 0);
        for (int round = 0; round < 20; round++) {
            slow = Math.max(slow, slowest(up, "round-" + round));
        }
        System.out.printf(
                "slowest claim of %d shards: %d ms before, %d ms while %s are down%n", up.size(), usual, slow, down);
        assertThat(slow).as("ms of the slowest claim on a shard that is up").isLessThan(1_000);
        Packet stuck = packets.get(down.iterator().next());
        assertThatThrownBy(() -> engine.claim(stuck, "bob")).isInstanceOf(UnavailableException.class);
        assertThat(books.sumOfEpochs()).isEqualTo(epochs);

        // And a server starts meanwhile
        try (TestEngine other = TestEngine.start(stores, 1, OPTIONS)) {
            Packet any = up.values().iterator().next();
            assertThat(other.claim(any, "elsewhere").kind()).isEqualTo(Kind.CLAIMED);
        }

        // And the doctor names the lost node, and shows the others
        assertThat(Checks.examine(config(cluster.url())).stream().map(Diagnosis::text))
                .anyMatch(line -> line.startsWith("Redis 127.0.0.1:") && line.contains(" does not answer: "))
                .anyMatch(line -> line.matches("Redis .*, role master, .*"))
                .noneMatch(line -> line.startsWith("Redis does not answer"));

        // And the shards that are up are found when their owner has to begin anew, and recovered when their Redis
        // forgets
        books.breakConnections(true);
        awaitServed(up, "owned-anew");
        Map.Entry<Integer, Packet> forgotten = up.entrySet().iterator().next();
        String stamp = tag(forgotten.getKey());
        try (Jedis redis = cluster.nodes().client(ClusterView.nodeOf(cluster, stamp, (master + 1) % 3))) {
            redis.scriptFlush();
        }
        eventually(SOON, () -> assertThat(tag(forgotten.getKey())).isNotEqualTo(stamp));
        awaitServed(up, "recovered");

        // When, Then
        cluster.nodes().startAgain(master);
        eventually(SOON, () -> assertThat(engine.claim(stuck, "bob").kind()).isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED));
        cluster.nodes().startAgain(replica);
        assertReconciled();
    }

    private void awaitServed(Map<Integer, Packet> packets, String user) {
        packets.forEach((shard, packet) -> eventually(
                SOON,
                () -> assertThat(engine.claim(packet, user).kind())
                        .as("shard " + shard)
                        .isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED)));
    }

    /** Milliseconds of the slowest claim, one after the other. */
    private long slowest(Map<Integer, Packet> packets, String user) {
        long slowest = 0;
        for (Packet packet : packets.values()) {
            long begun = System.nanoTime();
            assertThat(engine.claim(packet, user).kind()).isEqualTo(Kind.CLAIMED);
            slowest = Math.max(slowest, (System.nanoTime() - begun) / 1_000_000);
        }
        return slowest;
    }
}
