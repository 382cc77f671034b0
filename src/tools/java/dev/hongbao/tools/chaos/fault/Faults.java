package dev.hongbao.tools.chaos.fault;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import dev.hongbao.tools.chaos.bed.Member;
import dev.hongbao.tools.chaos.bed.PostgresNode;
import dev.hongbao.tools.chaos.bed.RedisSide;
import dev.hongbao.tools.chaos.bed.RedisSide.Form;
import dev.hongbao.tools.chaos.fault.Fault.FaultMissedException;
import dev.hongbao.tools.chaos.fault.FaultKind.Cost;
import dev.hongbao.tools.local.Debugger;
import dev.hongbao.tools.local.LossyProxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

/** All kinds of faults; {@link StepFaults} has those at a step of a server's work. */
final class Faults {
    static final String RESTORED = "postgres: restored to an earlier backup";
    static final String PROMOTED = "postgres: lagging replica promoted";

    private static final String OF_SERVERS = "select pg_terminate_backend(pid) from pg_stat_activity"
            + " where application_name like 'hongbao%' and pid <> pg_backend_pid()";

    /** Ends the sessions that own shards. */
    static final String OWNERS = OF_SERVERS + " and pid in (select pid from pg_locks where locktype = 'advisory')";

    private static final long MOST_STEP_MILLIS = TimeUnit.HOURS.toMillis(5);
    private static final int MOST_CUT_BYTES = 200_000;

    /** Redis does an fsync so often. */
    private static final int SYNC_MILLIS = 1_000;

    private static final int MOST_LOST_MILLIS = 1_500;
    private static final int FEW_CONNECTIONS = 3;
    private static final int UNLIMITED = -1;
    private static final List<String> TABLES = List.of("packet", "account", "transfer", "shard", "outbox");

    private Faults() {}

    /** All kinds that this machine can do. */
    static List<FaultKind> of(Form form) {
        boolean isCluster = form == Form.CLUSTER;
        List<FaultKind> all = new ArrayList<>(server());
        all.addAll(Debugger.isThere() ? StepFaults.ALL : List.of());
        all.addAll(redis());
        all.addAll(isCluster ? redisCluster() : redisWithoutCluster());
        if (form == Form.REPLICA) {
            all.add(bed(
                    "redis: replica promoted",
                    (bed, random) -> bed.promoteRedis(),
                    bed -> bed.redis().startFormerPrimary()));
        }
        if (RedisSide.isFillable(form)) {
            all.add(bed(
                    "redis: disk full",
                    (bed, random) -> bed.redis().fillDisk(),
                    bed -> bed.redis().freeDisk()));
        }
        all.addAll(postgres());
        if (PostgresNode.isFillable()) {
            all.add(bed(
                    "postgres: disk full",
                    (bed, random) -> bed.postgres().primary().fillDisk(),
                    bed -> bed.postgres().primary().freeDisk()));
        }
        if (!isCluster) {
            all.addAll(network("redis", member -> Objects.requireNonNull(member.redis())));
        }
        all.addAll(network("postgres", Member::postgres));
        all.addAll(network("clients", Member::clients));
        return all;
    }

    /** A server's process. It owns some shards, and is a bystander of the others. */
    private static List<FaultKind> server() {
        return List.of(
                kind(
                        "server: kill -9",
                        Cost.RESTART,
                        Faults::anyServer,
                        (member, random) -> member.server().kill(),
                        Member::start),
                kind(
                        "server: SIGTERM under load",
                        Cost.RESTART,
                        Faults::anyServer,
                        (member, random) -> member.server().stop(),
                        Member::start),
                kind(
                        "server: frozen",
                        Cost.SILENCE,
                        Faults::anyServer,
                        (member, random) -> member.server().freeze(),
                        member -> member.server().thaw()),
                kind(
                        "server: out of memory",
                        Cost.RESTART,
                        Faults::anyServer,
                        (member, random) -> member.server().exhaustHeap(),
                        Member::start),
                kind(
                        "server: its clock stepped",
                        Cost.LITTLE,
                        Faults::anyBystander,
                        (member, random) ->
                                member.server().stepClock(random.nextLong(-MOST_STEP_MILLIS, MOST_STEP_MILLIS)),
                        member -> member.server().stepClock(0)));
    }

    /** Redis, or a node of the cluster that accepts writes. */
    private static List<FaultKind> redis() {
        return List.of(
                node("redis: kill -9", Cost.LITTLE, (node, random) -> node.redis.kill(node.number), Node::startAgain),
                node(
                        "redis: frozen",
                        Cost.SILENCE,
                        (node, random) -> node.redis.freeze(node.number),
                        node -> node.redis.thaw(node.number)),
                command("redis: FLUSHALL", (jedis, random) -> jedis.flushAll()),
                command("redis: SCRIPT FLUSH", (jedis, random) -> jedis.scriptFlush()),
                command(
                        "redis: connections ended",
                        (jedis, random) -> jedis.clientKill(
                                new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES))),
                command("redis: single keys deleted", Faults::deleteSome),
                node(
                        "redis: maxmemory reached",
                        Cost.LITTLE,
                        (node, random) -> node.limitMemory("1mb"),
                        node -> node.limitMemory("0")));
    }

    /** Lost data; in a cluster the replica would have them. */
    private static List<FaultKind> redisWithoutCluster() {
        return List.of(
                node(
                        "redis: the end of its log is lost",
                        Cost.LITTLE,
                        (node, random) -> node.redis.cutLog(node.number, 1L + random.nextInt(MOST_CUT_BYTES)),
                        Node::startAgain),
                node(
                        "redis: what was not on disk yet is lost",
                        Cost.LITTLE,
                        (node, random) -> node.redis.cutLogToSynced(node.number, random.nextInt(SYNC_MILLIS)),
                        Node::startAgain),
                node(
                        "redis: comes back empty",
                        Cost.LITTLE,
                        (node, random) -> node.redis.killAndForget(node.number),
                        Node::startAgain));
    }

    private static List<FaultKind> redisCluster() {
        return List.of(bed(
                "redis: slots migrated",
                (bed, random) -> missedUnless(bed.redis().migrateHalf(random), "no keys"),
                bed -> bed.redis().migrateRest()));
    }

    /** Postgres, for all servers. */
    private static List<FaultKind> postgres() {
        return List.of(
                bed(
                        "postgres: kill -9",
                        (bed, random) -> bed.postgres().primary().kill(),
                        bed -> bed.postgres().primary().startAgain()),
                bed(
                        "postgres: immediate shutdown",
                        (bed, random) -> bed.postgres().primary().shutDownImmediately(),
                        bed -> bed.postgres().primary().startAgain()),
                bed(
                        "postgres: backends terminated",
                        (bed, random) -> bed.postgres().rows(OF_SERVERS),
                        bed -> {}),
                bed(
                        "postgres: owners' locks terminated",
                        (bed, random) -> bed.postgres().rows(OWNERS),
                        bed -> {}),
                lines("postgres: answers lost", Cost.LITTLE, (line, random) -> line.loseAnswers(), line -> {}),
                lines("postgres: connections swallowed", Cost.SILENCE, (line, random) -> line.swallow(), line -> {}),
                lines("postgres: silent", Cost.SILENCE, (line, random) -> line.fallSilent(), LossyProxy::comeBack),
                lines(
                        "postgres: slow",
                        Cost.LITTLE,
                        (line, random) -> line.delay(10L + random.nextInt(150)),
                        line -> line.delay(0)),
                bed(
                        RESTORED,
                        (bed, random) -> {
                            bed.postgres().backUp();
                            TimeUnit.MILLISECONDS.sleep(random.nextInt(MOST_LOST_MILLIS));
                            bed.postgres().restore();
                        },
                        bed -> {}),
                bed(
                        PROMOTED,
                        (bed, random) -> {
                            missedUnless(bed.postgres().holdReplicaBack(), "the replica lags too much");
                            TimeUnit.MILLISECONDS.sleep(random.nextInt(MOST_LOST_MILLIS));
                            bed.promotePostgres();
                        },
                        bed -> bed.postgres().replaceReplica()),
                bed(
                        "postgres: no connections to spare",
                        (bed, random) -> {
                            bed.postgres().limitConnections(FEW_CONNECTIONS);
                            bed.postgres().rows(OF_SERVERS);
                        },
                        bed -> bed.postgres().limitConnections(UNLIMITED)),
                bed(
                        "postgres: a table locked",
                        (bed, random) -> missedUnless(
                                bed.postgres().lock(TABLES.get(random.nextInt(TABLES.size()))),
                                "another session has locked it"),
                        bed -> bed.postgres().unlock()));
    }

    /** The proxy between one server and a store, or its clients. */
    private static List<FaultKind> network(String to, Function<Member, LossyProxy> of) {
        Line line = new Line(to, of);
        return List.of(
                line.kind("cut", Cost.SILENCE, (proxy, random) -> proxy.fallSilent(), LossyProxy::comeBack),
                line.kind(
                        "requests lost",
                        Cost.SILENCE,
                        (proxy, random) -> proxy.loseRequestsSilently(),
                        LossyProxy::comeBack),
                line.kind(
                        "answers lost",
                        Cost.SILENCE,
                        (proxy, random) -> proxy.loseAnswersSilently(),
                        LossyProxy::comeBack),
                line.kind("half-open", Cost.SILENCE, (proxy, random) -> proxy.swallow(), proxy -> {}),
                line.kind("stalled", Cost.SILENCE, (proxy, random) -> proxy.stall(), LossyProxy::flow),
                line.kind(
                        "slow",
                        Cost.LITTLE,
                        (proxy, random) -> proxy.delay(5L + random.nextInt(200)),
                        proxy -> proxy.delay(0)),
                line.kind("connections broken", Cost.LITTLE, (proxy, random) -> proxy.breakConnections(), proxy -> {}));
    }

    private record Line(String to, Function<Member, LossyProxy> of) {
        FaultKind kind(String what, Cost cost, Inject<LossyProxy> inject, Heal<LossyProxy> heal) {
            boolean isOfClients = to.equals("clients");
            return Faults.kind(
                    "network to " + to + ": " + what,
                    cost,
                    (bed, random) -> {
                        Member member = bed.any(random);
                        return new Chosen<>(
                                of.apply(member),
                                "line " + member.number() + " " + to,
                                isOfClients ? Set.of(member.number()) : Set.of());
                    },
                    inject,
                    proxy -> {
                        heal.on(proxy);
                        if (isOfClients) {
                            proxy.breakConnections(); // else clients wait for a lost answer until their limit
                        }
                    });
        }
    }

    /** A target of a fault. @param excused servers whose clients may be left without an answer */
    record Chosen<T>(T target, String place, Set<Integer> excused) {}

    interface Chooser<T> {
        Chosen<T> choose(ChaosBed bed, SplittableRandom random);
    }

    interface Inject<T> {
        void on(T target, SplittableRandom random) throws Exception;
    }

    interface Heal<T> {
        void on(T target) throws Exception;
    }

    static <T> FaultKind kind(String name, Cost cost, Chooser<T> chooser, Inject<T> inject, Heal<T> heal) {
        return new FaultKind(name, cost, (kind, bed, random) -> {
            Chosen<T> chosen = chooser.choose(bed, random);
            SplittableRandom own = random.split();
            return new Fault(
                    kind,
                    chosen.place,
                    "",
                    chosen.excused,
                    () -> inject.on(chosen.target, own),
                    () -> heal.on(chosen.target));
        });
    }

    static Chosen<Member> anyServer(ChaosBed bed, SplittableRandom random) {
        Member member = bed.any(random);
        return new Chosen<>(member, place(member), Set.of(member.number()));
    }

    /** A server that must answer its clients meanwhile. */
    static Chosen<Member> anyBystander(ChaosBed bed, SplittableRandom random) {
        Member member = bed.any(random);
        return new Chosen<>(member, place(member), Set.of());
    }

    static String place(Member member) {
        return "server " + member.number();
    }

    /** At a store; its name begins the fault's. */
    private static FaultKind bed(String name, Inject<ChaosBed> inject, Heal<ChaosBed> heal) {
        String store = name.substring(0, name.indexOf(':'));
        return kind(name, Cost.LITTLE, (bed, random) -> new Chosen<>(bed, store, Set.of()), inject, heal);
    }

    /** At all lines to Postgres. */
    private static FaultKind lines(String name, Cost cost, Inject<LossyProxy> inject, Heal<LossyProxy> heal) {
        return kind(
                name,
                cost,
                (bed, random) -> new Chosen<>(bed, "postgres", Set.of()),
                (bed, random) -> {
                    long seed = random.nextLong();
                    for (Member member : bed.members()) {
                        inject.on(member.postgres(), new SplittableRandom(seed)); // the same for each
                    }
                },
                bed -> {
                    for (Member member : bed.members()) {
                        heal.on(member.postgres());
                    }
                });
    }

    /** A node of Redis, chosen when the fault comes: a promotion may have changed the roles by then. */
    private static final class Node {
        final RedisSide redis;
        int number = -1;

        Node(RedisSide redis) {
            this.redis = redis;
        }

        void startAgain() {
            redis.startAgain(number);
        }

        void limitMemory(String bytes) {
            try (Jedis jedis = redis.client(number)) {
                jedis.configSet("maxmemory", bytes);
            }
        }
    }

    private static FaultKind node(String name, Cost cost, Inject<Node> inject, Heal<Node> heal) {
        return kind(
                name,
                cost,
                (bed, random) -> new Chosen<>(new Node(bed.redis()), "redis", Set.of()),
                (node, random) -> {
                    node.number = node.redis.node(random);
                    inject.on(node, random);
                },
                node -> {
                    if (node.number >= 0) {
                        heal.on(node);
                    }
                });
    }

    private static FaultKind command(String name, Inject<Jedis> command) {
        return node(
                name,
                Cost.LITTLE,
                (node, random) -> {
                    try (Jedis jedis = node.redis.client(node.number)) {
                        command.on(jedis, random);
                    }
                },
                node -> {});
    }

    /** One key of each kind: a key without its ids. */
    private static void deleteSome(Jedis jedis, SplittableRandom random) {
        Map<String, List<String>> kinds = new TreeMap<>();
        for (String key : jedis.keys("*")) {
            kinds.computeIfAbsent(key.replaceAll("[0-9a-f-]{8,}|[0-9]+", ""), first -> new ArrayList<>())
                    .add(key);
        }
        for (List<String> keys : kinds.values()) {
            Collections.sort(keys);
            jedis.del(keys.get(random.nextInt(keys.size())));
        }
    }

    private static void missedUnless(boolean happened, String why) throws FaultMissedException {
        if (!happened) {
            throw new FaultMissedException(why);
        }
    }
}
