package dev.hongbao.tools.chaos.fault;

import static dev.hongbao.tools.chaos.fault.FaultKind.Cost.LITTLE;
import static dev.hongbao.tools.chaos.fault.FaultKind.Cost.RESTART;
import static dev.hongbao.tools.chaos.fault.FaultKind.Cost.SILENCE;
import static java.util.Objects.requireNonNull;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import dev.hongbao.tools.chaos.bed.Member;
import dev.hongbao.tools.chaos.bed.PostgresNode;
import dev.hongbao.tools.chaos.bed.PostgresSide;
import dev.hongbao.tools.chaos.bed.RedisSide;
import dev.hongbao.tools.chaos.bed.RedisSide.Form;
import dev.hongbao.tools.chaos.fault.Fault.FaultMissedException;
import dev.hongbao.tools.chaos.fault.FaultKind.Cost;
import dev.hongbao.tools.local.ChildServer;
import dev.hongbao.tools.local.LossyProxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ObjLongConsumer;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

/** All kinds of faults. */
final class Faults {
    static final String RESTORED = "postgres: restored to an earlier backup";
    static final String PROMOTED = "postgres: lagging replica promoted";

    private static final String OF_SERVERS = "select pg_terminate_backend(pid) from pg_stat_activity"
            + " where application_name like 'hongbao%' and pid <> pg_backend_pid()";

    /** Ends the sessions that own shards. */
    private static final String OWNERS = OF_SERVERS + " and pid in (select pid from pg_locks where locktype = 'advisory')";

    private static final long MOST_STEP_MILLIS = TimeUnit.HOURS.toMillis(5);
    private static final int MOST_CUT_BYTES = 200_000;

    /** Redis does an fsync so often. */
    private static final int SYNC_MILLIS = 1_000;

    private static final int MOST_LOST_MILLIS = 1_500;
    private static final ClientKillParams OTHER_CLIENTS =
            new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES);
    private static final List<String> TABLES = List.of("packet", "account", "transfer", "shard", "outbox");

    private Faults() {}

    /** All kinds that this machine can do. */
    static List<FaultKind> of(Form form) {
        List<FaultKind> all = new ArrayList<>(server());
        all.addAll(redis(form));
        all.addAll(postgres());
        all.addAll(form == Form.CLUSTER ? List.of() : network("redis", member -> requireNonNull(member.redis)));
        all.addAll(network("postgres", member -> member.postgres));
        all.addAll(network("clients", member -> member.clients));
        return all;
    }

    /** A server's process. It owns some shards, and is a bystander of the others. */
    private static List<FaultKind> server() {
        return List.of(
                server("server: kill -9", RESTART, ChildServer::kill, Member::start),
                server("server: SIGTERM under load", RESTART, server -> server.stop(), Member::start),
                server(
                        "server: frozen",
                        SILENCE,
                        ChildServer::freeze,
                        member -> member.server().thaw()),
                server("server: out of memory", RESTART, ChildServer::exhaustHeap, Member::start),
                kind(
                        "server: its clock stepped",
                        LITTLE,
                        Faults::anyBystander,
                        (member, random) ->
                                member.server().stepClock(random.nextLong(-MOST_STEP_MILLIS, MOST_STEP_MILLIS)),
                        member -> member.server().stepClock(0)));
    }

    /** Redis, or a node of the cluster that accepts writes. */
    private static List<FaultKind> redis(Form form) {
        List<FaultKind> all = new ArrayList<>(List.of(
                node("redis: kill -9", LITTLE, (redis, node, random) -> redis.nodes.kill(node), RedisSide::startAgain),
                node(
                        "redis: frozen",
                        SILENCE,
                        (redis, node, random) -> redis.nodes.freeze(node),
                        (redis, node) -> redis.nodes.thaw(node)),
                command("redis: FLUSHALL", (jedis, random) -> jedis.flushAll()),
                command("redis: SCRIPT FLUSH", (jedis, random) -> jedis.scriptFlush()),
                command("redis: connections ended", (jedis, random) -> jedis.clientKill(OTHER_CLIENTS)),
                command("redis: single keys deleted", Faults::deleteSome),
                node(
                        "redis: maxmemory reached",
                        LITTLE,
                        (redis, node, random) -> redis.limitMemory(node, "1mb"),
                        (redis, node) -> redis.limitMemory(node, "0"))));
        if (form == Form.CLUSTER) {
            all.add(redis(
                    "redis: slots migrated",
                    (bed, random) -> missedUnless(bed.redis().migrateHalf(random), "no keys"),
                    RedisSide::migrateRest));
        } else { // in a cluster a replica would have the lost data
            all.add(node(
                    "redis: the end of its log is lost",
                    LITTLE,
                    (redis, node, random) -> redis.cutLog(node, 1L + random.nextInt(MOST_CUT_BYTES)),
                    RedisSide::startAgain));
            all.add(node(
                    "redis: what was not on disk yet is lost",
                    LITTLE,
                    (redis, node, random) -> redis.cutLogToSynced(node, random.nextInt(SYNC_MILLIS)),
                    RedisSide::startAgain));
            all.add(node(
                    "redis: comes back empty",
                    LITTLE,
                    (redis, node, random) -> redis.killAndForget(node),
                    RedisSide::startAgain));
        }
        if (form == Form.REPLICA) {
            all.add(redis(
                    "redis: replica promoted", (bed, random) -> bed.promoteRedis(), RedisSide::startFormerPrimary));
        }
        if (RedisSide.isFillable(form)) {
            all.add(redis("redis: disk full", (bed, random) -> bed.redis().fillDisk(), RedisSide::freeDisk));
        }
        return all;
    }

    /** Postgres, for all servers. */
    private static List<FaultKind> postgres() {
        List<FaultKind> all = new ArrayList<>(List.of(
                primary("postgres: kill -9", PostgresNode::kill, PostgresNode::startAgain),
                primary("postgres: immediate shutdown", PostgresNode::shutDownImmediately, PostgresNode::startAgain),
                postgres(
                        "postgres: backends terminated",
                        (bed, random) -> bed.postgres().rows(OF_SERVERS),
                        side -> {}),
                postgres(
                        "postgres: owners' locks terminated",
                        (bed, random) -> bed.postgres().rows(OWNERS),
                        side -> {}),
                lines("postgres: answers lost", LITTLE, (line, millis) -> line.loseAnswers(), line -> {}),
                lines("postgres: connections swallowed", SILENCE, (line, millis) -> line.swallow(), line -> {}),
                lines("postgres: silent", SILENCE, (line, millis) -> line.fallSilent(), LossyProxy::comeBack),
                lines("postgres: slow", LITTLE, LossyProxy::delay, line -> line.delay(0)),
                postgres(
                        RESTORED,
                        (bed, random) -> {
                            bed.postgres().backUp();
                            TimeUnit.MILLISECONDS.sleep(random.nextInt(MOST_LOST_MILLIS));
                            bed.postgres().restore();
                        },
                        side -> {}),
                postgres(
                        PROMOTED,
                        (bed, random) -> {
                            missedUnless(bed.postgres().holdReplicaBack(), "the replica lags too much");
                            TimeUnit.MILLISECONDS.sleep(random.nextInt(MOST_LOST_MILLIS));
                            bed.promotePostgres();
                        },
                        PostgresSide::replaceReplica),
                postgres(
                        "postgres: no connections to spare",
                        (bed, random) -> {
                            bed.postgres().limitConnections(3);
                            bed.postgres().rows(OF_SERVERS);
                        },
                        side -> side.limitConnections(-1)),
                postgres(
                        "postgres: a table locked",
                        (bed, random) -> missedUnless(
                                bed.postgres().lock(TABLES.get(random.nextInt(TABLES.size()))),
                                "another session has locked it"),
                        PostgresSide::unlock)));
        if (PostgresNode.isFillable()) {
            all.add(primary("postgres: disk full", PostgresNode::fillDisk, PostgresNode::freeDisk));
        }
        return all;
    }

    /** The proxy between one server and a store, or its clients. */
    private static List<FaultKind> network(String to, Function<Member, LossyProxy> of) {
        Line line = new Line(to, of);
        return List.of(
                line.kind("cut", SILENCE, LossyProxy::fallSilent, LossyProxy::comeBack),
                line.kind("requests lost", SILENCE, LossyProxy::loseRequestsSilently, LossyProxy::comeBack),
                line.kind("answers lost", SILENCE, LossyProxy::loseAnswersSilently, LossyProxy::comeBack),
                line.kind("half-open", SILENCE, LossyProxy::swallow, proxy -> {}),
                line.kind("stalled", SILENCE, LossyProxy::stall, LossyProxy::flow),
                line.kind(
                        "slow",
                        LITTLE,
                        (proxy, random) -> proxy.delay(5L + random.nextInt(200)),
                        proxy -> proxy.delay(0)),
                line.kind("connections broken", LITTLE, LossyProxy::breakConnections, proxy -> {}));
    }

    private record Line(String to, Function<Member, LossyProxy> of) {
        FaultKind kind(String what, Cost cost, Heal<LossyProxy> inject, Heal<LossyProxy> heal) {
            return kind(what, cost, (proxy, random) -> inject.on(proxy), heal);
        }

        private FaultKind kind(String what, Cost cost, Inject<LossyProxy> inject, Heal<LossyProxy> heal) {
            boolean isOfClients = to.equals("clients");
            return Faults.kind(
                    "network to " + to + ": " + what,
                    cost,
                    (bed, random) -> {
                        Member member = bed.any(random);
                        Set<Integer> excused = isOfClients ? Set.of(member.number) : Set.of();
                        return new Chosen<>(of.apply(member), "line " + member.number + " " + to, excused);
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
    private record Chosen<T>(T target, String place, Set<Integer> excused) {}

    private interface Chooser<T> {
        Chosen<T> choose(ChaosBed bed, SplittableRandom random);
    }

    private interface Inject<T> {
        void on(T target, SplittableRandom random) throws Exception;
    }

    private interface Heal<T> {
        void on(T target) throws Exception;
    }

    private static <T> FaultKind kind(String name, Cost cost, Chooser<T> chooser, Inject<T> inject, Heal<T> heal) {
        return new FaultKind(name, cost, (kind, bed, random) -> {
            Chosen<T> chosen = chooser.choose(bed, random);
            SplittableRandom own = random.split();
            Fault.Step begin = () -> inject.on(chosen.target, own);
            return new Fault(kind, chosen.place, chosen.excused, begin, () -> heal.on(chosen.target));
        });
    }

    private static FaultKind server(String name, Cost cost, Heal<ChildServer> inject, Heal<Member> heal) {
        return kind(
                name,
                cost,
                (bed, random) -> {
                    Member member = bed.any(random);
                    return new Chosen<>(member, place(member), Set.of(member.number));
                },
                (member, random) -> inject.on(member.server()),
                heal);
    }

    /** A server that must answer its clients meanwhile. */
    private static Chosen<Member> anyBystander(ChaosBed bed, SplittableRandom random) {
        Member member = bed.any(random);
        return new Chosen<>(member, place(member), Set.of());
    }

    private static String place(Member member) {
        return "server " + member.number;
    }

    private static Chooser<ChaosBed> all(String place) {
        return (bed, random) -> new Chosen<>(bed, place, Set.of());
    }

    private static FaultKind redis(String name, Inject<ChaosBed> inject, Heal<RedisSide> heal) {
        return kind(name, LITTLE, all("redis"), inject, bed -> heal.on(bed.redis()));
    }

    private static FaultKind postgres(String name, Inject<ChaosBed> inject, Heal<PostgresSide> heal) {
        return kind(name, LITTLE, all("postgres"), inject, bed -> heal.on(bed.postgres()));
    }

    private static FaultKind primary(String name, Heal<PostgresNode> inject, Heal<PostgresNode> heal) {
        return postgres(name, (bed, random) -> inject.on(bed.postgres().primary()), side -> heal.on(side.primary()));
    }

    /** At the lines of all servers to Postgres. */
    private static FaultKind lines(
            String name, Cost cost, ObjLongConsumer<LossyProxy> inject, Consumer<LossyProxy> heal) {
        return kind(
                name,
                cost,
                all("postgres"),
                (bed, random) -> {
                    long millis = 10L + random.nextInt(150);
                    bed.members().forEach(member -> inject.accept(member.postgres, millis));
                },
                bed -> bed.members().forEach(member -> heal.accept(member.postgres)));
    }

    private interface NodeInject {
        void on(RedisSide redis, int node, SplittableRandom random) throws Exception;
    }

    private interface NodeHeal {
        void on(RedisSide redis, int node) throws Exception;
    }

    /** @param number -1 until the fault comes: a promotion may have changed the roles by then */
    private record Node(RedisSide redis, AtomicInteger number) {}

    private static FaultKind node(String name, Cost cost, NodeInject inject, NodeHeal heal) {
        return kind(
                name,
                cost,
                (bed, random) -> new Chosen<>(new Node(bed.redis(), new AtomicInteger(-1)), "redis", Set.of()),
                (node, random) -> {
                    node.number.set(node.redis.node(random));
                    inject.on(node.redis, node.number.get(), random);
                },
                node -> {
                    if (node.number.get() >= 0) {
                        heal.on(node.redis, node.number.get());
                    }
                });
    }

    private static FaultKind command(String name, Inject<Jedis> command) {
        return node(
                name,
                LITTLE,
                (redis, node, random) -> {
                    try (Jedis jedis = redis.nodes.client(node)) {
                        command.on(jedis, random);
                    }
                },
                (redis, node) -> {});
    }

    /** One key of each kind: a kind is a key without its ids. */
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
