package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import dev.hongbao.tools.chaos.bed.RedisSide;
import dev.hongbao.tools.chaos.check.Checker;
import dev.hongbao.tools.chaos.check.Told;
import dev.hongbao.tools.chaos.check.Violation;
import dev.hongbao.tools.chaos.fault.Schedule;
import dev.hongbao.tools.chaos.history.Call;
import dev.hongbao.tools.chaos.history.Call.Kind;
import dev.hongbao.tools.chaos.history.History;
import dev.hongbao.tools.chaos.load.Api;
import dev.hongbao.tools.chaos.load.SimulatedClient;
import dev.hongbao.tools.chaos.load.World;
import dev.hongbao.web.access.TokenSigner;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** One run: starts everything, hurts it, mends it, and checks. Blocking; for one thread. */
public final class Chaos {
    private static final int CLIENTS = 24;
    private static final int PAUSE_MILLIS = 60;
    private static final int MOST_OPERATIONS = 1_000_000;
    private static final long FIRST_MONEY = 50_000;
    private static final long PRIZES = 100_000;
    private static final long QUIET_LIMIT_MILLIS = 60_000;
    private static final long END_MILLIS = 4 * Api.TIMEOUT_MILLIS;

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
        try (History history = new History(directory.resolve("history.txt"), MOST_OPERATIONS);
                ChaosBed bed = ChaosBed.start(directory, settings.servers, settings.redis)) {
            TokenSigner signer = bed.signer();
            try (Api api = new Api(history, signer, bed.ports());
                    Probes probes =
                            new Probes(history, settings.servers, () -> new Api(history, signer, bed.ports()))) {
                probes.prepare(bed.postgres());
                return run(history, bed, signer, api, probes);
            }
        }
    }

    private ChaosResult run(History history, ChaosBed bed, TokenSigner signer, Api api, Probes probes)
            throws Exception {
        SplittableRandom random = new SplittableRandom(settings.seed);
        Schedule schedule = new Schedule(bed, random.split(), settings.isShort);
        giveMoney(api);
        World world = new World(settings.servers, draw(api));
        NewsReader news = new NewsReader(new Api(history, signer, bed.ports()), settings.servers);
        List<Thread> threads = new ArrayList<>();
        threads.add(new Thread(news, "news"));
        for (int i = 0; i < CLIENTS; i++) {
            threads.add(new Thread(
                    new SimulatedClient(
                            world,
                            history,
                            new Api(history, signer, bed.ports()),
                            random.split(),
                            "client-" + i,
                            PAUSE_MILLIS),
                    "client-" + i));
        }
        threads.forEach(thread -> thread.setDaemon(true));
        threads.forEach(Thread::start);
        Rounds rounds = new Rounds(schedule, probes, history, progress);
        try {
            rounds.run(history.micros() + TimeUnit.MILLISECONDS.toMicros(settings.length.toMillis()));
        } finally {
            world.stop();
            news.stop();
        }
        progress.accept("waiting for the last answers");
        for (Thread each : threads) {
            each.join(END_MILLIS);
        }
        List<Violation> found = new ArrayList<>(rounds.stranded());
        probes.awaitSettled(QUIET_LIMIT_MILLIS)
                .forEach(late -> found.add(new Violation(Rounds.LIVE, late + " in quiet times", List.of())));
        long quiet = history.micros();
        found.addAll(new Quiet(bed, api, progress).ask());
        progress.accept("reading all news");
        List<Told> told = NewsReader.all(api);
        progress.accept("checking " + history.operations().size() + " operations");
        Checker.Seen seen = new Checker.Seen(history.operations(), rounds.troubles(), quiet, news.told(), told);
        found.addAll(Checker.check(seen, RowReader.read(bed.postgres())));
        return new ChaosResult(settings.seed, seen.history(), seen.troubles(), rounds.settledMicros(), found);
    }

    private static void giveMoney(Api api) {
        for (String user : World.users()) {
            api.perform(new Call(Kind.DEPOSIT, user, "", "first-" + user, FIRST_MONEY, 0));
        }
    }

    /** One that everybody plays, for money, with prizes enough. @return its id */
    private static String draw(Api api) throws IOException {
        api.make(
                0,
                "/v1/accounts/backend/deposits",
                "setup-deposit",
                new JsonObject().put("asset", "CNY").put("amount", PRIZES * 100));
        JsonObject cash = new JsonObject()
                .put("name", "cash")
                .put("count", 1)
                .put("stock", PRIZES)
                .put("award", new JsonObject().put("asset", "CNY").put("amount", 30));
        JsonObject definition = new JsonObject()
                .put("name", "wheel")
                .put("closesAt", Instant.now().plus(Duration.ofDays(1)).toString())
                .put("mode", "table")
                .put("whenExhausted", "repeat")
                .put("cost", new JsonObject().put("asset", "CNY").put("amount", 10))
                .put(
                        "prizes",
                        new JsonArray()
                                .add(cash)
                                .add(new JsonObject().put("name", "thanks").put("count", 4)));
        return api.make(0, "/v1/draws", "setup-draw", definition).getString("id");
    }
}
