package dev.hongbao.tools.bench.model;

import dev.hongbao.engine.journal.SettlementBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/**
 * Claims on their way through a {@link Deployment}: a server's cores; one call of the script at a time for each server and shard, on the
 * node's one thread, which takes all calls that it finds; one transaction at a time for each server, or one on each of its connections once
 * much waits; and back. What it leaves out: the network, garbage collection, locks in Postgres, and that a large transaction is sent before
 * the one under way has committed. Confined to one thread.
 */
public final class ClaimModel {
    /** As the servers do: {@code claim.batch-size}, what one settlement takes, and what is worth a connection of its own. */
    private static final int SCRIPT_LIMIT = 256;

    private static final int SETTLEMENT_LIMIT = 2_048;
    private static final int MUCH = 256;
    private static final long LONGEST_MICROS = 600_000_000;

    private final Simulation simulation = new Simulation();
    private final SplittableRandom random;
    private final Costs costs;
    private final Deployment deployment;
    private final double slower;
    private final double loadMicros;
    private final List<Cores> servers = new ArrayList<>();
    private final Cores postgres;
    private final Cores load;
    private final List<List<Gathering<Claim>>> lanes = new ArrayList<>();
    private final List<Gathering<Claim>> owners = new ArrayList<>();
    private final Histogram latency = new Histogram(LONGEST_MICROS, 3);
    private double countFromMicros;
    private boolean isClosed;

    private record Claim(int server, int shard, double dueMicros) {}

    /** Of a script. */
    private record Call(int claims, Runnable answered) {}

    /**
     * What came out.
     *
     * @param perSecond claims that were settled
     * @param latency microseconds since a claim was due
     * @param perSettlement claims in a transaction
     */
    public record Outcome(double perSecond, Histogram latency, double perSettlement) {}

    private ClaimModel(Deployment deployment, Costs costs, long seed) {
        this.deployment = deployment;
        this.costs = costs;
        this.random = new SplittableRandom(seed);
        Deployment.Shared shared = deployment.shared();
        Cores machine = new Cores(simulation, shared == null ? 1 : shared.cores());
        this.slower = shared == null ? 1 : shared.cores() / Math.max(0.1, shared.cores() - shared.restCores());
        this.loadMicros = shared == null ? 0 : shared.loadMicros();
        this.load = machine;
        this.postgres = shared == null ? new Cores(simulation, deployment.postgresCores()) : machine;
        List<Gathering<Call>> nodes = IntStream.range(0, deployment.nodes())
                .mapToObj(node -> node(shared == null ? new Cores(simulation, 1) : machine))
                .toList();
        for (int server = 0; server < deployment.servers(); server++) {
            servers.add(shared == null ? new Cores(simulation, deployment.coresEach()) : machine);
            List<Gathering<Claim>> ofServer = new ArrayList<>();
            for (int shard = 0; shard < deployment.shards(); shard++) {
                Gathering<Call> node = nodes.get(shard % nodes.size());
                ofServer.add(new Gathering<>(
                        SCRIPT_LIMIT,
                        (batch, done) -> node.add(0, new Call(batch.size(), () -> {
                            done.run();
                            batch.forEach(this::accepted);
                        }))));
            }
            lanes.add(ofServer);
            int owner = server;
            owners.add(new Gathering<>(
                    SETTLEMENT_LIMIT, SettlementBatch.MOST_AT_ONCE, MUCH, (batch, done) -> settle(owner, batch, done)));
        }
    }

    /** Claims at a steady rate, whatever becomes of them. @param seconds that count, after a fifth of them that do not */
    public static Outcome open(Deployment deployment, Costs costs, double perSecond, double seconds, long seed) {
        ClaimModel model = new ClaimModel(deployment, costs, seed);
        model.arrive(1e6 / perSecond);
        return model.run(seconds);
    }

    /** As many as there are connections at once: how much the deployment can do. */
    public static Outcome closed(Deployment deployment, Costs costs, int connections, double seconds, long seed) {
        ClaimModel model = new ClaimModel(deployment, costs, seed);
        model.isClosed = true;
        for (int i = 0; i < connections; i++) {
            model.begin(i % deployment.servers());
        }
        return model.run(seconds);
    }

    private Outcome run(double seconds) {
        countFromMicros = seconds / 5 * 1e6;
        simulation.run(countFromMicros + seconds * 1e6);
        double perSettlement = owners.stream()
                .mapToDouble(Gathering::meanBatch)
                .filter(batch -> batch > 0)
                .average()
                .orElse(0);
        return new Outcome(latency.getTotalCount() / seconds, latency, perSettlement);
    }

    /** Many people who do not know of each other: the time between two of them is exponential. */
    private void arrive(double meanMicros) {
        simulation.after(-meanMicros * Math.log(1 - random.nextDouble()), () -> {
            begin(random.nextInt(servers.size()));
            arrive(meanMicros);
        });
    }

    private void begin(int server) {
        Claim claim = new Claim(server, random.nextInt(deployment.shards()), simulation.now());
        onCores(
                load,
                loadMicros / 2,
                () -> onCores(
                        servers.get(server),
                        costs.server().claim() / 2,
                        () -> lanes.get(server).get(claim.shard).add(0, claim)));
    }

    private void onCores(Cores cores, double micros, Runnable done) {
        cores.work(micros * slower, done);
    }

    /** One thread: what it finds at a turn is done before the next one. */
    private Gathering<Call> node(Cores cores) {
        return new Gathering<>(Integer.MAX_VALUE, (calls, done) -> {
            int claims = calls.stream().mapToInt(Call::claims).sum();
            onCores(cores, costs.redis().turn() + costs.redis().claim() * claims, () -> {
                done.run();
                calls.forEach(call -> call.answered.run());
            });
        });
    }

    private void accepted(Claim claim) {
        int owner = claim.shard % owners.size();
        owners.get(owner).add(claim.shard / owners.size() % SettlementBatch.MOST_AT_ONCE, claim);
    }

    private void settle(int owner, List<Claim> batch, Runnable done) {
        double micros = costs.postgres().settlement() + costs.postgres().claim() * batch.size();
        onCores(
                servers.get(owner),
                costs.server().settlement(),
                () -> onCores(
                        postgres,
                        micros,
                        () -> simulation.after(costs.postgres().commit(), () -> {
                            done.run();
                            batch.forEach(this::answer);
                        })));
    }

    private void answer(Claim claim) {
        onCores(
                servers.get(claim.server),
                costs.server().claim() / 2,
                () -> onCores(load, loadMicros / 2, () -> {
                    if (simulation.now() >= countFromMicros) {
                        latency.recordValue(Math.min(LONGEST_MICROS, (long) (simulation.now() - claim.dueMicros)));
                    }
                    if (isClosed) {
                        begin(claim.server);
                    }
                }));
    }
}
