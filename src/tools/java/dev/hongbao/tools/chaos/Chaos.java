package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import dev.hongbao.tools.chaos.bed.RedisSide;
import dev.hongbao.tools.chaos.check.Checker;
import dev.hongbao.tools.chaos.check.Told;
import dev.hongbao.tools.chaos.check.Violation;
import dev.hongbao.tools.chaos.fault.Schedule;
import dev.hongbao.tools.chaos.history.History;
import dev.hongbao.tools.chaos.load.Api;
import dev.hongbao.tools.chaos.load.Crowd;
import dev.hongbao.tools.chaos.load.UserTokens;
import dev.hongbao.tools.chaos.load.World;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** One run: starts everything, hurts it, mends it, and checks. Blocking; for one thread. */
public final class Chaos {
    private static final int MOST_OPERATIONS = 2_000_000;
    private static final long QUIET_LIMIT_MILLIS = 60_000;

    private final Settings settings;
    private final Path directory;
    private final Consumer<String> progress;

    /**
     * What to run.
     *
     * @param length of the time in which faults are injected; the start and the check come on top
     * @param seed of the schedule, and of what the clients do
     * @param faults which come
     * @param calm before each round of faults: nothing is hurt for so long, while the crowd goes on; not negative
     * @param runners who race for packets, beside the crowd; 1 or more
     */
    public record Settings(Duration length, long seed, Parts parts, Schedule.Wish faults, Duration calm, int runners) {}

    /** What is started. @param servers 1 or more */
    public record Parts(int servers, RedisSide.Form redis) {}

    /**
     * @param directory for all files, which is there and empty; the history and the servers' logs stay in it
     * @param progress hears a line every few seconds
     */
    public Chaos(Settings settings, Path directory, Consumer<String> progress) {
        this.settings = settings;
        this.directory = directory;
        this.progress = progress;
    }

    /** @throws Exception when something cannot be started or mended; that is no finding */
    public ChaosResult run() throws Exception {
        progress.accept("starting " + settings.parts.servers + " servers, Postgres and Redis in " + directory);
        Schedule.leftOut().forEach(progress);
        SplittableRandom random = new SplittableRandom(settings.seed);
        try (History history = new History(directory.resolve("history.txt"), MOST_OPERATIONS);
                ChaosBed bed = ChaosBed.start(directory, settings.parts.servers, settings.parts.redis)) {
            UserTokens tokens = new UserTokens(bed.signer());
            Supplier<Api> apis = () -> new Api(history, tokens, bed.ports());
            try (Api api = apis.get();
                    WebhookReceiver receiver = new WebhookReceiver(random.split());
                    Probes probes = new Probes(history, settings.parts.servers, apis)) {
                Preparations made = new Preparations(api);
                made.subscribe(receiver.url());
                made.deposit(Crowd.races(settings.runners));
                probes.prepare(bed.postgres());
                World world = new World(settings.parts.servers, made.draw(), made.campaign());
                Load load = new Load(
                        new Crowd(world, history, apis, random.split(), settings.runners), apis, world, receiver);
                Schedule schedule = new Schedule(bed, random.split(), settings.faults);
                Rounds rounds = new Rounds(schedule::next, settings.calm, probes::awaitSettled, history, progress);
                load.start();
                rounds.run(history.micros() + TimeUnit.MILLISECONDS.toMicros(settings.length.toMillis()));
                progress.accept("waiting for the last answers");
                load.stop();
                List<Violation> found = new ArrayList<>(rounds.stranded());
                probes.awaitSettled(QUIET_LIMIT_MILLIS)
                        .forEach(late -> found.add(new Violation(Rounds.LIVE, late + " in quiet times", List.of())));
                long quiet = history.micros();
                found.addAll(new Quiet(bed, apis, api, progress).ask());
                progress.accept("reading the outbox");
                Checker.Outbox outbox = outbox(load, api);
                progress.accept("checking " + history.operations().size() + " operations, and "
                        + load.heard().size() + " events that were heard over sockets");
                Checker.Seen seen = new Checker.Seen(history.operations(), rounds.times(), quiet, outbox, load.heard());
                found.addAll(Checker.check(seen, RowReader.read(bed.postgres())));
                return new ChaosResult(
                        settings.seed,
                        seen.history(),
                        seen.times().troubles(),
                        rounds.settledMicros(),
                        rounds.settling(),
                        found);
            }
        }
    }

    private static Checker.Outbox outbox(Load load, Api api) throws Exception {
        List<Told> all = OutboxFollower.all(api);
        load.awaitDelivered(all);
        return new Checker.Outbox(load.earlier(), all, load.delivered());
    }
}
