package dev.hongbao.tools.bench.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;
import java.util.function.ObjDoubleConsumer;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The simulation against what queueing theory knows exactly. Microseconds; a rate is in arrivals a microsecond. */
class ClaimModelTest {
    private static final double LONG = 400_000_000;

    /** Mean time that arrivals of a Poisson process spend at a station. */
    private static double meanSojourn(
            Simulation simulation, double rate, long seed, ObjDoubleConsumer<Runnable> station) {
        SplittableRandom random = new SplittableRandom(seed);
        double[] sums = new double[2];
        Runnable[] arrive = new Runnable[1];
        arrive[0] = () -> {
            double came = simulation.now();
            station.accept(
                    () -> {
                        sums[0] += simulation.now() - came;
                        sums[1]++;
                    },
                    came);
            simulation.after(exponential(random, 1 / rate), arrive[0]);
        };
        simulation.after(exponential(random, 1 / rate), arrive[0]);
        simulation.run(LONG);
        return sums[0] / sums[1];
    }

    private static double exponential(SplittableRandom random, double mean) {
        return -mean * Math.log(1 - random.nextDouble());
    }

    private static double oneCore(double rate, long seed, DoubleSupplier service) {
        Simulation simulation = new Simulation();
        Cores core = new Cores(simulation, 1);
        return meanSojourn(simulation, rate, seed, (done, came) -> core.work(service.getAsDouble(), done));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void aCoreWithExponentialServiceIsMm1(long seed) {
        // Given a core that is busy for 7 of 10 microseconds
        double rate = 0.007;
        double mean = 100;
        SplittableRandom random = new SplittableRandom(-seed);

        // Then 1 / (mu - lambda)
        assertThat(oneCore(rate, seed, () -> exponential(random, mean)))
                .as("seed " + seed)
                .isCloseTo(1 / (1 / mean - rate), Percentage.withPercentage(3));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void aCoreWithConstantServiceIsMd1(long seed) {
        double service = 100;
        double load = 0.7;

        // Then Pollaczek and Khinchine's formula
        assertThat(oneCore(load / service, seed, () -> service))
                .as("seed " + seed)
                .isCloseTo(service + load * service / (2 * (1 - load)), Percentage.withPercentage(2));
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.2, 1, 5})
    void aStationThatServesAllWhoWaitAtOnceIsAsRenewalTheorySays(double arrivalsInAService) {
        // Given a service that takes as long for one as for many
        double service = 1_000;
        double rate = arrivalsInAService / service;
        long seed = 7;
        Simulation simulation = new Simulation();
        Gathering<Runnable> station = new Gathering<>(
                Integer.MAX_VALUE,
                (batch, next) -> simulation.after(service, () -> {
                    next.run();
                    batch.forEach(Runnable::run);
                }));

        // When
        double sojourn = meanSojourn(simulation, rate, seed, (done, came) -> station.add(0, done));

        // Then who finds it busy waits for half a service, and it is busy for x / (x + e^-x) of the time
        double busy = arrivalsInAService / (arrivalsInAService + Math.exp(-arrivalsInAService));
        assertThat(sojourn).as("seed " + seed).isCloseTo(service * (1 + busy / 2), Percentage.withPercentage(2));
        assertThat(station.meanBatch())
                .as("seed " + seed)
                .isCloseTo(arrivalsInAService + Math.exp(-arrivalsInAService), Percentage.withPercentage(2));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void batchesOfATransactionGrowWithTheLoad(long seed) {
        // Given a transaction of 400 us and 30 us a claim, and cores enough
        Costs costs =
                new Costs(new Costs.Server(0.001, 0), new Costs.Redis(0.001, 0), new Costs.Postgres(30, 400, 600));
        Deployment wide = new Deployment(1, 64, 1, 64, 16, null);
        double perSecond = 25_000;

        // When
        ClaimModel.Outcome outcome = ClaimModel.open(wide, costs, perSecond, 20, seed);

        // Then a batch is what comes during one: n = rate * (a + b * n)
        double rate = perSecond / 1e6;
        assertThat(outcome.perSettlement())
                .as("seed " + seed)
                .isCloseTo(rate * 1_000 / (1 - rate * 30), Percentage.withPercentage(3));
        assertThat(outcome.perSecond()).isCloseTo(perSecond, Percentage.withPercentage(1));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void withoutALoadAClaimTakesTheSumOfItsParts(long seed) {
        Costs costs = new Costs(new Costs.Server(100, 50), new Costs.Redis(5, 20), new Costs.Postgres(30, 400, 600));
        Deployment small = new Deployment(1, 2, 1, 2, 16, null);

        ClaimModel.Outcome outcome = ClaimModel.open(small, costs, 1, 2_000, seed);

        assertThat((double) outcome.latency().getValueAtPercentile(50))
                .as("seed " + seed)
                .isCloseTo(100 + 50 + 25 + 430 + 600, within(2.0));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void theNarrowestPartSetsTheLimit(int servers) {
        // Given servers whose cores are the narrowest: 2 of them for 100 us each
        Costs costs = new Costs(new Costs.Server(100, 0), new Costs.Redis(0.1, 0), new Costs.Postgres(0.1, 10, 10));
        Deployment deployment = new Deployment(servers, 2, 1, 16, 16, null);

        // When each has more connections than it can serve
        ClaimModel.Outcome outcome = ClaimModel.closed(deployment, costs, 256 * servers, 2, 1);

        // Then
        assertThat(outcome.perSecond()).isCloseTo(servers * 20_000.0, Percentage.withPercentage(3));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void nodesOfRedisAreOneThreadEach(int nodes) {
        // Given scripts that cost far more than all else
        Costs costs = new Costs(new Costs.Server(1, 0), new Costs.Redis(100, 0), new Costs.Postgres(1, 10, 10));
        Deployment deployment = new Deployment(2, 8, nodes, 16, 48, null);

        ClaimModel.Outcome outcome = ClaimModel.closed(deployment, costs, 400, 10, 1);

        assertThat(outcome.perSecond()).isCloseTo(nodes * 10_000.0, Percentage.withPercentage(5));
    }

    @ParameterizedTest
    @CsvSource({"100, 10000", "2000, 20000"})
    void muchIsSettledOnTwoConnections(int atOnce, double perSecond) {
        // Given settlements that cost far more than all else, 100 us a claim, and cores enough for them
        Costs costs = new Costs(new Costs.Server(0.1, 0), new Costs.Redis(0.1, 0), new Costs.Postgres(100, 0, 0));
        Deployment deployment = new Deployment(1, 8, 1, 16, 16, null);

        ClaimModel.Outcome outcome = ClaimModel.closed(deployment, costs, atOnce, 10, 1);

        assertThat(outcome.perSecond()).isCloseTo(perSecond, Percentage.withPercentage(3));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void oneMachineIsSharedByAll(int cores) {
        // Given 200 us a claim in all, whoever works
        Costs costs = new Costs(new Costs.Server(100, 0), new Costs.Redis(20, 0), new Costs.Postgres(30, 0, 100));
        Deployment one = new Deployment(3, 1, 3, 1, 16, new Deployment.Shared(cores, 50, 0));

        ClaimModel.Outcome outcome = ClaimModel.closed(one, costs, 96, 5, 1);

        assertThat(outcome.perSecond()).isCloseTo(cores * 5_000.0, Percentage.withPercentage(3));
    }
}
