package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import dev.hongbao.tools.chaos.bed.PostgresNode;
import dev.hongbao.tools.chaos.bed.RedisSide;
import dev.hongbao.tools.chaos.check.Checker;
import dev.hongbao.tools.chaos.check.Rule;
import dev.hongbao.tools.chaos.check.Seen;
import dev.hongbao.tools.chaos.check.Seen.Event;
import dev.hongbao.tools.chaos.check.Violation;
import dev.hongbao.tools.chaos.fault.Schedule;
import dev.hongbao.tools.chaos.load.Api;
import dev.hongbao.tools.chaos.load.Crowd;
import dev.hongbao.tools.chaos.load.History;
import dev.hongbao.tools.chaos.load.Preparations;
import dev.hongbao.tools.chaos.load.WebhookReceiver;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** One run: starts everything, hurts it, mends it, and checks. Blocking; for one thread. */
public final class Chaos {
    private static final int MOST_OPERATIONS = 2_000_000;
    private static final long QUIET_LIMIT_MILLIS = 60_000;

    private Chaos() {}

    /**
     * @param length of the time with faults
     * @param servers 1 or more
     * @param faults see {@link Schedule}
     * @param runners 1 or more
     */
    public record Settings(Duration length, long seed, int servers, RedisSide.Form redis, String faults, int runners) {}

    /**
     * @param directory exists and is empty; keeps the history and the servers' logs
     * @throws Exception if something cannot start or be mended; this is no violation
     */
    public static ChaosResult run(Settings settings, Path directory, Consumer<String> progress) throws Exception {
        progress.accept("starting " + settings.servers + " servers, Postgres and Redis in " + directory);
        if (!PostgresNode.isFillable()) {
            progress.accept("no disk is full: this process may not mount one of its own");
        }
        SplittableRandom random = new SplittableRandom(settings.seed);
        try (History history = new History(directory.resolve("history.txt"), MOST_OPERATIONS, System::nanoTime);
                ChaosBed bed = ChaosBed.start(directory, settings.servers, settings.redis);
                WebhookReceiver webhook = new WebhookReceiver(random.split())) {
            List<Integer> ports =
                    bed.members().stream().map(member -> member.clients.port()).toList();
            Api api = new Api(history, bed.signer(), ports);
            Probes probes = new Probes(history, api);
            Preparations made = new Preparations(api);
            made.subscribe(webhook.url());
            made.deposit(Crowd.races(settings.runners));
            probes.prepare(bed.postgres());
            Crowd crowd = new Crowd(api, made.draw(), made.campaign(), random.split(), settings.runners);
            Schedule schedule = new Schedule(bed, random.split(), settings.faults);
            Rounds rounds = new Rounds(schedule::next, probes::awaitSettled, history, progress);
            crowd.start();
            rounds.run(history.micros() + TimeUnit.MILLISECONDS.toMicros(settings.length.toMillis()));

            progress.accept("waiting for the last answers");
            crowd.stop();
            webhook.takeAll();
            List<Violation> found = new ArrayList<>(rounds.stranded);
            probes.awaitSettled(QUIET_LIMIT_MILLIS)
                    .forEach(late -> found.add(new Violation(Rule.SETTLES, late + " after the last fault")));
            long quiet = history.micros();
            found.addAll(new Quiet(bed, api, progress).ask());
            progress.accept("reading the outbox");
            List<Event> events = api.allEvents();
            List<Event> earlier = new ArrayList<>(crowd.polled());
            earlier.addAll(webhook.received());
            Set<String> delivered = webhook.await(events);
            Seen seen = new Seen(
                    history.operations(),
                    rounds.troubles,
                    rounds.losses,
                    quiet,
                    earlier,
                    events,
                    delivered,
                    crowd.heard());
            progress.accept("checking " + seen.history().size() + " operations, and "
                    + seen.heard().size() + " events that arrived over sockets");
            found.addAll(Checker.check(seen, RowReader.read(bed.postgres())));
            return new ChaosResult(settings.seed, seen.history(), rounds.faults, rounds.settling, found);
        }
    }
}
