package dev.hongbao.tools.bench;

import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.UserId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/** Settled plays of prize draws, against article 4's design, which writes only to Redis. */
final class DrawsBench extends Part {
    private static final int MANY_PRIZES = 100;

    /** Plays until a table begins again, whatever its number of prizes. */
    private static final int TABLE = 10_000;

    private static final Asset POINTS = new Asset("POINTS");
    private static final Caller SERVICE = new Caller(new UserId("shop"), Set.of(), Role.SERVICE, Instant.MAX);

    private final List<Caller> players = BenchBed.members(trial.size(2_000, 100));
    private final Row article4 = trial.row("article 4: lock, sorted set", "plays/s");
    private final Row five =
            trial.row("settled, a table of 5 prizes", "plays/s").over(article4).atLeast(5);
    private final Row many = trial.row("settled, a table of " + MANY_PRIZES + " prizes", "plays/s")
            .over(five)
            .atLeast(1 / 1.5);
    private final Row paid =
            trial.row("settled, each play paid in points", "plays/s").over(five).atLeast(0.5);
    private final Row scheduled =
            trial.row("settled, prizes released over time", "plays/s").over(article4);

    DrawsBench(BenchBed bed) throws Exception {
        super(bed);
        bed.fund(players, POINTS);
        step("article 4", () -> article4.add(ArticleLoops.article4(bed.stores(), trial.size(5_000, 100))));
        step("5 prizes", () -> five.add(play(table(5))));
        step("many prizes", () -> many.add(play(table(MANY_PRIZES))));
        step("paid", () -> {
            Map<String, Object> costly = new HashMap<>(table(5));
            costly.put("cost", Map.of("asset", POINTS.code(), "amount", 10));
            paid.add(play(costly));
        });
        step("scheduled", () -> scheduled.add(play(schedule())));
    }

    /** A table that repeats, with prizes of growing rarity; the last prize is nothing. */
    private static Map<String, Object> table(int prizes) {
        List<Map<String, Object>> all = new ArrayList<>();
        int left = TABLE;
        for (int i = 1; i < prizes; i++) {
            int count = Math.max(1, TABLE / 2 / prizes * i / prizes);
            left -= count;
            all.add(Map.of("name", "prize " + i, "count", count));
        }
        all.add(Map.of("name", "nothing", "count", left));
        return Map.of("mode", "table", "whenExhausted", "repeat", "prizes", all);
    }

    /** As article 4's wheel: a due prize goes first, and the other plays win the consolation. */
    private static Map<String, Object> schedule() {
        List<Map<String, Object>> prizes = IntStream.rangeClosed(1, 5)
                .mapToObj(i -> Map.<String, Object>of("name", "prize " + i, "quota", TABLE / 5, "stock", TABLE))
                .toList();
        return Map.of(
                "mode",
                "schedule",
                "schedule",
                Map.of("periodSeconds", 60),
                "prizes",
                prizes,
                "fallback",
                Map.of("name", "consolation"));
    }

    private double play(Map<String, Object> definition) throws Exception {
        DrawId draw = create(definition);
        return new Storm<>(
                        bed.loops,
                        trial.size(40_000, 100),
                        Storm.WINDOW,
                        n -> bed.services(n)
                                .plays
                                .play(players.get(n % players.size()), draw, 1, new IdempotencyKey("play-" + n)),
                        outcome -> outcome.kind() == PlayOutcome.Kind.PLAYED)
                .run();
    }

    private DrawId create(Map<String, Object> definition) throws Exception {
        Map<String, Object> body = new HashMap<>(definition);
        body.put("name", "bench");
        body.put("closesAt", Instant.now().plusSeconds(3_600).toString());
        DrawDefinition read = DrawDefinition.read(body);
        return BenchBed.on(bed.loops.get(0), () -> bed.services(0).draws.create(SERVICE, read, BenchBed.newKey()))
                .id();
    }
}
