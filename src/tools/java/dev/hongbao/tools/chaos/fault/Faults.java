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
    private static final String OWNERS =
            OF_SERVERS + " and pid in (select pid from pg_locks where locktype = 'advisory')";

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
                server("server: kill -9", RESTART, (server, random) -> server.kill(), Member::start),
                server("server: SIGTERM under load", RESTART, (server, random) -> server.stop(), Member::start),
                server(
                        "server: frozen",
                        SILENCE,
                        (server, random) -> server.freeze(),
                        member -> member.server().thaw()),
                server("server: out of memory", RESTART, (server, random) -> server.exhaustHeap(), Member::start),
                server(
                        "server: its clock stepped",
                        LITTLE,
                        (server, random) -> server.stepClock(random.nextLong(-MOST_STEP_MILLIS, MOST_STEP_MILLIS)),
                        member -> member.server().stepClock(0)));
    }

    /** Redis, or a node of the cluster that accepts writes. */
    private static List<FaultKind> redis(Form form) {
        List<FaultKind> all = new ArrayList<>(List.of(
                redis("redis: kill -9", LITTLE, (redis, random) -> redis.kill(), RedisSide::startAgain),
                redis("redis: frozen", SILENCE, (redis, random) -> redis.freeze(), RedisSide::thaw),
                command("redis: FLUSHALL", (jedis, random) -> jedis.flushAll()),
                command("redis: SCRIPT FLUSH", (jedis, random) -> jedis.scriptFlush()),
                command("redis: connections ended", (jedis, random) -> jedis.clientKill(OTHER_CLIENTS)),
                command("redis: single keys deleted", Faults::deleteSome),
                redis(
                        "redis: maxmemory reached",
                        LITTLE,
                        (redis, random) -> redis.limitMemory("1mb"),
                        redis -> redis.limitMemory("0"))));
        if (form == Form.CLUSTER) {
            all.add(redis(
                    "redis: slots migrated",
                    LITTLE,
                    (redis, random) -> missedUnless(redis.migrateHalf(random), "no keys"),
                    RedisSide::migrateRest));
        } else { // in a cluster a replica would have the lost data, and a changed key another node's slot
            all.add(redis(
                    "redis: a bit of its log flipped", LITTLE, RedisSide::flipLog, RedisSide::startAgainOrForget));
            all.add(redis(
                    "redis: the end of its log is lost",
                    LITTLE,
                    (redis, random) -> redis.cutLog(1L + random.nextInt(MOST_CUT_BYTES)),
                    RedisSide::startAgain));
            all.add(redis(
                    "redis: what was not on disk yet is lost",
                    LITTLE,
                    (redis, random) -> redis.cutLogToSynced(random.nextInt(SYNC_MILLIS)),
                    RedisSide::startAgain));
            all.add(redis(
                    "redis: comes back empty",
                    LITTLE,
                    (redis, random) -> redis.killAndForget(),
                    RedisSide::startAgain));
        }
        if (form == Form.REPLICA) {
            all.add(store(
                    "redis: replica promoted",
                    LITTLE,
                    (bed, random) -> bed.promoteRedis(),
                    bed -> bed.redis().startFormerPrimary()));
        }
        if (RedisSide.isFillable(form)) {
            all.add(redis("redis: disk full", LITTLE, (redis, random) -> redis.fillDisk(), RedisSide::freeDisk));
        }
        return all;
    }

    /** Postgres, for all servers. */
    private static List<FaultKind> postgres() {
        List<FaultKind> all = new ArrayList<>(List.of(
                primary("postgres: kill -9", PostgresNode::kill, PostgresNode::startAgain),
                primary("postgres: immediate shutdown", PostgresNode::shutDownImmediately, PostgresNode::startAgain),
                postgres("postgres: backends terminated", (side, random) -> side.rows(OF_SERVERS), side -> {}),
                postgres("postgres: owners' locks terminated", (side, random) -> side.rows(OWNERS), side -> {}),
                lines("postgres: answers lost", LITTLE, (line, millis) -> line.loseAnswers(), line -> {}),
                lines("postgres: connections swallowed", SILENCE, (line, millis) -> line.swallow(), line -> {}),
                lines("postgres: silent", SILENCE, (line, millis) -> line.fallSilent(), LossyProxy::comeBack),
                lines("postgres: slow", LITTLE, LossyProxy::delay, line -> line.delay(0)),
                postgres(
                        RESTORED,
                        (side, random) -> {
                            side.backUp();
                            TimeUnit.MILLISECONDS.sleep(random.nextInt(MOST_LOST_MILLIS));
                            side.restore();
                        },
                        side -> {}),
                store(
                        PROMOTED,
                        LITTLE,
                        (bed, random) -> {
                            missedUnless(bed.postgres().holdReplicaBack(), "the replica lags too much");
                            TimeUnit.MILLISECONDS.sleep(random.nextInt(MOST_LOST_MILLIS));
                            bed.promotePostgres();
                        },
                        bed -> bed.postgres().replaceReplica()),
                postgres(
                        "postgres: no connections to spare",
                        (side, random) -> {
                            side.limitConnections(3);
                            side.rows(OF_SERVERS);
                        },
                        side -> side.limitConnections(-1)),
                postgres("postgres: a bit of a page flipped", PostgresSide::flipPage, PostgresSide::mend),
                postgres("postgres: its log damaged", PostgresSide::damageLog, PostgresSide::mend),
                postgres(
                        "postgres: a table locked",
                        (side, random) -> missedUnless(
                                side.lock(TABLES.get(random.nextInt(TABLES.size()))), "another session has locked it"),
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
                line.kind("cut", SILENCE, (proxy, random) -> proxy.fallSilent(), LossyProxy::comeBack),
                line.kind(
                        "requests lost",
                        SILENCE,
                        (proxy, random) -> proxy.loseRequestsSilently(),
                        LossyProxy::comeBack),
                line.kind(
                        "answers lost", SILENCE, (proxy, random) -> proxy.loseAnswersSilently(), LossyProxy::comeBack),
                line.kind("half-open", SILENCE, (proxy, random) -> proxy.swallow(), proxy -> {}),
                line.kind("stalled", SILENCE, (proxy, random) -> proxy.stall(), LossyProxy::flow),
                line.kind(
                        "slow",
                        LITTLE,
                        (proxy, random) -> proxy.delay(5L + random.nextInt(200)),
                        proxy -> proxy.delay(0)),
                line.kind("connections broken", LITTLE, (proxy, random) -> proxy.breakConnections(), proxy -> {}));
    }

    private record Line(String to, Function<Member, LossyProxy> of) {
        FaultKind kind(String what, Cost cost, Inject<LossyProxy> inject, Heal<LossyProxy> heal) {
            boolean isOfClients = to.equals("clients");
            String name = "network to " + to + ": " + what;
            return new FaultKind(name, cost, (bed, random) -> {
                Member member = bed.any(random);
                LossyProxy proxy = of.apply(member);
                SplittableRandom own = random.split();
                return new Fault(
                        name,
                        "line " + member.number + " " + to,
                        isOfClients ? Set.of(member.number) : Set.of(),
                        () -> inject.on(proxy, own),
                        () -> {
                            heal.on(proxy);
                            if (isOfClients) {
                                proxy.breakConnections(); // else clients wait for a lost answer until their limit
                            }
                        });
            });
        }
    }

    private interface Inject<T> {
        void on(T target, SplittableRandom random) throws Exception;
    }

    private interface Heal<T> {
        void on(T target) throws Exception;
    }

    /** A fault of little cost excuses nobody: the server must answer its clients all the while. */
    private static FaultKind server(String name, Cost cost, Inject<ChildServer> inject, Heal<Member> heal) {
        return new FaultKind(name, cost, (bed, random) -> {
            Member member = bed.any(random);
            SplittableRandom own = random.split();
            return new Fault(
                    name,
                    "server " + member.number,
                    cost == LITTLE ? Set.of() : Set.of(member.number),
                    () -> inject.on(member.server(), own),
                    () -> heal.on(member));
        });
    }

    /** @param name begins with the store */
    private static FaultKind store(String name, Cost cost, Inject<ChaosBed> inject, Heal<ChaosBed> heal) {
        return new FaultKind(name, cost, (bed, random) -> {
            SplittableRandom own = random.split();
            String place = name.substring(0, name.indexOf(':'));
            return new Fault(name, place, Set.of(), () -> inject.on(bed, own), () -> heal.on(bed));
        });
    }

    private static FaultKind redis(String name, Cost cost, Inject<RedisSide> inject, Heal<RedisSide> heal) {
        return store(
                name,
                cost,
                (bed, random) -> {
                    bed.redis().choose(random);
                    inject.on(bed.redis(), random);
                },
                bed -> heal.on(bed.redis()));
    }

    private static FaultKind command(String name, Inject<Jedis> command) {
        return redis(
                name,
                LITTLE,
                (redis, random) -> {
                    try (Jedis jedis = redis.client()) {
                        command.on(jedis, random);
                    }
                },
                redis -> {});
    }

    private static FaultKind postgres(String name, Inject<PostgresSide> inject, Heal<PostgresSide> heal) {
        return store(name, LITTLE, (bed, random) -> inject.on(bed.postgres(), random), bed -> heal.on(bed.postgres()));
    }

    private static FaultKind primary(String name, Heal<PostgresNode> inject, Heal<PostgresNode> heal) {
        return postgres(name, (side, random) -> inject.on(side.primary()), side -> heal.on(side.primary()));
    }

    /** At the lines of all servers to Postgres. */
    private static FaultKind lines(
            String name, Cost cost, ObjLongConsumer<LossyProxy> inject, Consumer<LossyProxy> heal) {
        return store(
                name,
                cost,
                (bed, random) -> {
                    long millis = 10L + random.nextInt(150);
                    bed.members().forEach(member -> inject.accept(member.postgres, millis));
                },
                bed -> bed.members().forEach(member -> heal.accept(member.postgres)));
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
