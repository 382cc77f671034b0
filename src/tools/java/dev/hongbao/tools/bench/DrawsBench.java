package dev.hongbao.tools.bench;

import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.draw.Draw;
import dev.hongbao.domain.draw.DrawId;
import dev.hongbao.domain.ledger.Asset;
import dev.hongbao.domain.ledger.Origin;
import dev.hongbao.domain.odds.DefinitionReader;
import dev.hongbao.domain.odds.DrawDefinition;
import dev.hongbao.domain.play.PlayOutcome;
import dev.hongbao.server.Services;
import dev.hongbao.tools.bench.article.Article4;
import dev.hongbao.tools.bench.article.Crowd;
import dev.hongbao.tools.bench.article.Crowd.Misfortune;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Plays of prize draws, each settled in Postgres, against article 4's way, which writes only to Redis. */
final class DrawsBench {
    private static final Duration EASY = Duration.ofSeconds(10);
    private static final int ARTICLE_PLAYS = 5_000;

    /** Of article 4's way, before the rounds that count: as long as all of ours take then. */
    private static final int WARM_UP_MILLIS = 10_000;

    private static final int PLAYS = 40_000;
    private static final int PLAYERS = 2_000;
    private static final int MANY_PRIZES = 100;

    /** Of a whole round, whatever the number of prizes. */
    private static final int ROUND = 10_000;

    private static final long POINTS_EACH = 1_000_000_000L;
    private static final Asset POINTS = new Asset("POINTS");
    private static final Caller SERVICE = new Caller(new UserId("shop"), Set.of(), Role.SERVICE, Instant.MAX);

    private final Findings findings = new Findings("draws");
    private final Measurement article4 = findings.measure("article 4: lock, sorted set", "plays/s");
    private final Measurement five = findings.measure("settled, a table of 5 prizes", "plays/s", article4, 5);
    private final Measurement hundred =
            findings.measure("settled, a table of " + MANY_PRIZES + " prizes", "plays/s", five, 1 / 1.5);
    private final Measurement paid = findings.measure("settled, each play paid in points", "plays/s", five, 0.5);
    private final Measurement scheduled =
            findings.measure("settled, prizes released over time, else the fallback", "plays/s", article4, 0);

    private final BenchBed bed;
    private final Scale scale;
    private final Consumer<String> progress;
    private final List<Caller> players;

    private DrawsBench(BenchBed bed, Scale scale, Consumer<String> progress) {
        this.bed = bed;
        this.scale = scale;
        this.progress = progress;
        this.players = BenchPackets.members(scale.of(PLAYERS, 100));
    }

    /** Steps that {@link #run} reports. */
    static int steps(Scale scale) {
        return (scale.rounds() + 1) * 5;
    }

    /** As {@link ClaimsBench#run}. */
    static Findings run(Path directory, Scale scale, Consumer<String> progress) throws Exception {
        try (BenchBed bed = BenchBed.start(ClaimsBench.config(directory))) {
            DrawsBench bench = new DrawsBench(bed, scale, progress);
            bench.findings.on(Machine.versions(bed.stores()));
            bench.deposit();
            for (int round = 0; round <= scale.rounds(); round++) {
                bench.round(round);
            }
            return bench.findings;
        }
    }

    /** What the players pay with. */
    private void deposit() throws Exception {
        List<Future<?>> deposits = new ArrayList<>();
        for (Caller player : players) {
            deposits.add(bed.engine()
                    .wallets()
                    .deposit(Origin.server(player.user()), player.user(), POINTS, POINTS_EACH, newKey()));
            if (deposits.size() % 100 == 0) {
                BenchBed.await(Future.all(deposits));
            }
        }
        BenchBed.await(Future.all(deposits));
    }

    private interface Step {
        void run(boolean counts) throws Exception;
    }

    private void round(int round) throws Exception {
        List<Step> steps = new ArrayList<>(List.of(
                this::article4,
                counts -> play("a table of 5", table(5, false), five, counts),
                counts -> play("a table of 100", table(MANY_PRIZES, false), hundred, counts),
                counts -> play("paid", table(5, true), paid, counts),
                counts -> play("scheduled", schedule(), scheduled, counts)));
        if (round % 2 == 1) {
            Collections.reverse(steps);
        }
        for (Step step : steps) {
            step.run(round > 0);
        }
        bed.checkBooks(findings);
    }

    private void article4(boolean counts) throws Exception {
        progress.accept("article 4");
        Article4 strategy = new Article4(bed.stores().redisUrl(), EASY);
        long warm = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(counts ? 0 : scale.millis(WARM_UP_MILLIS));
        Crowd.Race race;
        do {
            race = Crowd.race(strategy, scale.of(ARTICLE_PLAYS, 100), Misfortune.NONE);
        } while (System.nanoTime() < warm);
        if (counts) {
            article4.add(race.perSecond());
        }
    }

    /** Rounds of a table that begins anew, with prizes of growing rarity; the last is nothing. */
    private static Map<String, Object> table(int prizes, boolean isPaid) {
        List<Map<String, Object>> all = new ArrayList<>();
        int left = ROUND;
        for (int i = 1; i < prizes; i++) {
            int count = Math.max(1, ROUND / 2 / prizes * i / prizes);
            left -= count;
            all.add(Map.of("name", "prize " + i, "count", count));
        }
        all.add(Map.of("name", "nothing", "count", left));
        Map<String, Object> definition = new HashMap<>();
        definition.put("mode", "table");
        definition.put("whenExhausted", "repeat");
        definition.put("prizes", all);
        if (isPaid) {
            definition.put("cost", Map.of("asset", POINTS.code(), "amount", 10));
        }
        return definition;
    }

    /** As article 4's wheel: what is due is won first, and everyone else wins the consolation. */
    private static Map<String, Object> schedule() {
        List<Map<String, Object>> all = new ArrayList<>();
        for (int i = 1; i <= 5; i++) {
            all.add(Map.of("name", "prize " + i, "quota", ROUND / 5, "stock", ROUND));
        }
        Map<String, Object> definition = new HashMap<>();
        definition.put("mode", "schedule");
        definition.put("schedule", Map.of("periodSeconds", 60));
        definition.put("prizes", all);
        definition.put("fallback", Map.of("name", "consolation"));
        return definition;
    }

    private void play(String name, Map<String, Object> definition, Measurement rate, boolean counts) throws Exception {
        progress.accept(name);
        Draw draw = create(name, definition);
        double perSecond = new Storm<>(bed, scale.of(PLAYS, 100), new Playing(draw.id())).run();
        if (counts) {
            rate.add(perSecond);
        }
    }

    private Draw create(String name, Map<String, Object> definition) throws Exception {
        Map<String, Object> body = new HashMap<>(definition);
        body.put("name", name);
        body.put("closesAt", Instant.now().plusSeconds(3_600).toString());
        DrawDefinition read = DefinitionReader.read(body);
        BenchBed.Loop loop = bed.loops().get(0);
        Promise<Draw> made = Promise.promise();
        loop.context()
                .runOnContext(now ->
                        loop.services().draws().create(SERVICE, read, newKey()).onComplete(made));
        return BenchBed.await(made.future());
    }

    private static IdempotencyKey newKey() {
        return new IdempotencyKey(UUID.randomUUID().toString());
    }

    /** One play a call, with a key of its own. */
    private final class Playing implements Storm.StormCall<PlayOutcome> {
        private final DrawId draw;

        Playing(DrawId draw) {
            this.draw = draw;
        }

        @Override
        public Future<PlayOutcome> on(Services services, int n) {
            return services.plays().play(players.get(n % players.size()), draw, 1, new IdempotencyKey("play-" + n));
        }

        @Override
        public boolean isRight(PlayOutcome outcome) {
            return outcome.kind() == PlayOutcome.Kind.PLAYED;
        }
    }
}
