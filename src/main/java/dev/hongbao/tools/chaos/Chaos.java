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
import dev.hongbao.tools.chaos.load.World;
import dev.hongbao.web.access.TokenSigner;
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
    private static final int MOST_OPERATIONS = 1_000_000;
    private static final long QUIET_LIMIT_MILLIS = 60_000;

    private final Settings settings;
    private final Path directory;
    private final Consumer<String> progress;

    /**
     * What to run.
     *
     * @param length of the time in which faults are injected; the start and the check come on top
     * @param seed of the schedule, and of what the clients do
     * @param servers 1 or more
     * @param isShort whether no round of faults lasts longer than some seconds
     */
    public record Settings(Duration length, long seed, int servers, RedisSide.Form redis, boolean isShort) {}

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
        progress.accept("starting " + settings.servers + " servers, Postgres and Redis in " + directory);
        SplittableRandom random = new SplittableRandom(settings.seed);
        try (History history = new History(directory.resolve("history.txt"), MOST_OPERATIONS);
                ChaosBed bed = ChaosBed.start(directory, settings.servers, settings.redis)) {
            TokenSigner signer = bed.signer();
            Supplier<Api> apis = () -> new Api(history, signer, bed.ports());
            try (Api api = apis.get();
                    WebhookReceiver receiver = new WebhookReceiver(random.split());
                    Probes probes = new Probes(history, settings.servers, apis)) {
                Host host = new Host(api);
                host.subscribe(receiver.url());
                host.deposit();
                probes.prepare(bed.postgres());
                World world = new World(settings.servers, host.draw(), host.campaign());
                NewsReader news = new NewsReader(apis.get(), settings.servers);
                Crowd crowd = new Crowd(world, history, apis, random.split());
                Rounds rounds =
                        new Rounds(new Schedule(bed, random.split(), settings.isShort), probes, history, progress);
                hurt(rounds, crowd, news, history);
                return check(rounds, bed, history, api, probes, new Listeners(news, receiver));
            }
        }
    }

    /** Who has been told the news. */
    private record Listeners(NewsReader reader, WebhookReceiver receiver) {}

    private void hurt(Rounds rounds, Crowd crowd, NewsReader news, History history) throws Exception {
        Thread reading = new Thread(news, "news");
        reading.setDaemon(true);
        reading.start();
        crowd.start();
        rounds.run(history.micros() + TimeUnit.MILLISECONDS.toMicros(settings.length.toMillis()));
        progress.accept("waiting for the last answers");
        crowd.stop();
        news.stop();
        reading.join();
    }

    private ChaosResult check(Rounds rounds, ChaosBed bed, History history, Api api, Probes probes, Listeners listeners)
            throws Exception {
        List<Violation> found = new ArrayList<>(rounds.stranded());
        probes.awaitSettled(QUIET_LIMIT_MILLIS)
                .forEach(late -> found.add(new Violation(Rounds.LIVE, late + " in quiet times", List.of())));
        long quiet = history.micros();
        listeners.receiver.beKind();
        found.addAll(new Quiet(bed, api, progress).ask());
        progress.accept("reading all news");
        List<Told> told = NewsReader.all(api);
        listeners.receiver.await(told);
        List<Told> earlier = new ArrayList<>(listeners.reader.told());
        earlier.addAll(listeners.receiver.told());
        progress.accept("checking " + history.operations().size() + " operations");
        Checker.Seen seen = new Checker.Seen(
                history.operations(), rounds.troubles(), quiet, earlier, told, listeners.receiver.taken());
        found.addAll(Checker.check(seen, RowReader.read(bed.postgres())));
        return new ChaosResult(settings.seed, seen.history(), seen.troubles(), rounds.settledMicros(), found);
    }
}
