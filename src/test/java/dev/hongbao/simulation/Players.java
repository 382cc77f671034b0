package dev.hongbao.simulation;

import dev.hongbao.draw.Play;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.draw.PlayService;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.Prize;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.fairness.Evidence;
import dev.hongbao.simulation.DrawTables.DrawRow;
import dev.hongbao.simulation.DrawTables.PlayRow;
import dev.hongbao.simulation.DrawTables.PrizeRow;
import dev.hongbao.simulation.DrawTables.RequestRow;
import dev.hongbao.store.redis.RedisFault;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UserId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The users that play draws, and what is checked of plays: an answer never changes, the seed gives each prize, no prize exceeds its stock,
 * a cost is spent or returned, once.
 */
final class Players {
    /** Some users can pay for all that they play, and some for less. */
    private static final int[] PURSES = {1_000, 1_000, 45};

    private static final long COST = 10;

    /** By its mode and its end of a round; each has prizes of its own. */
    private static final List<String> KINDS = List.of(
            "'mode': 'table', 'prizes': [{'name': 'a', 'count': 2}, {'name': 'b', 'count': 9}]",
            "'mode': 'table', 'whenExhausted': 'repeat', 'prizes': [{'name': 'a', 'count': 1, 'stock': 8, 'perUser': 1},"
                    + " {'name': 'b', 'count': 1}]",
            "'mode': 'table', 'whenExhausted': 'rescale', 'prizes': [{'name': 'a', 'count': 2, 'stock': 5},"
                    + " {'name': 'b', 'count': 3, 'stock': 14}]",
            "'mode': 'table', 'whenExhausted': 'fallback', 'fallback': {'name': 'thanks'},"
                    + " 'prizes': [{'name': 'a', 'count': 2, 'perUser': 1}, {'name': 'b', 'count': 5}]",
            "'mode': 'weights', 'fallback': {'name': 'thanks'}, 'guarantees': [{'category': 'goods', 'plays': 3}],"
                    + " 'prizes': [{'name': 'a', 'category': 'goods', 'weight': 1, 'stock': 4, 'perUser': 2,"
                    + " 'award': {'asset': 'CNY', 'amount': 7}}, {'name': 'b', 'weight': 20}]",
            "'mode': 'schedule', 'fallback': {'name': 'thanks'}, 'schedule': {'periodSeconds': 1, 'carryOver': %s},"
                    + " 'prizes': [{'name': 'a', 'quota': 1, 'stock': 3}, {'name': 'b', 'quota': 3, 'stock': 9}]");

    private final History history;
    private final World world;
    private final DrawTables tables;
    private final List<DrawRow> draws = new ArrayList<>();
    private final Map<UUID, List<Long>> answers = new HashMap<>();
    private final Map<UUID, Set<Integer>> counts = new HashMap<>();
    private final List<Refused> refused = new ArrayList<>();

    /** How often a request was sent since an answer said {@code overloaded}. */
    private final Map<UUID, Integer> calls = new HashMap<>();

    private int unanswered;
    private long attempts;

    /**
     * A request.
     *
     * @param isPatient asked again until it is answered; else given up after the first try
     */
    private record Asked(String user, DrawRow draw, String key, int plays, boolean isPatient) {
        UUID request() {
            return PlayService.requestOf(new DrawId(draw.id), new UserId(user), new IdempotencyKey(key));
        }

        @Override
        public String toString() {
            return "play of " + user + " by " + key + ", " + plays + " × draw " + draw.id + " of shard " + draw.shard;
        }
    }

    /**
     * An answer that the settled plays prove in the end.
     *
     * @param at when it was asked for
     * @param settled the draw's plays that were settled then
     * @param answered the moment of the answer
     */
    private record Refused(Asked asked, PlayOutcome.Kind kind, long at, int settled, Instant answered) {}

    Players(History history, World world, DrawTables tables) {
        this.history = history;
        this.world = world;
        this.tables = tables;
        tables.attempts = drawn -> new UUID(0xa77e, ++attempts);
    }

    /** Makes a draw that no server has loaded yet. */
    void draw(UUID id, int shard) {
        Instant now = tables.now();
        boolean isShort = world.oneIn(3);
        int kind = world.random.nextInt(KINDS.size());
        JsonObject body = new JsonObject(("{" + KINDS.get(kind).formatted(world.oneIn(2)) + "}").replace('\'', '"'))
                .put("name", "draw")
                .put("opensAt", now.toString())
                .put(
                        "closesAt",
                        now.plusMillis(isShort ? world.random.nextInt(1_000, 4_000) : 3_600_000)
                                .toString());
        if (world.oneIn(2)) {
            body.put("group", "family");
        }
        if (world.oneIn(2)) {
            body.put("cost", Map.of("asset", PostgresTables.ASSET, "amount", COST));
        }
        if (world.oneIn(3)) {
            body.put("limits", Map.of(world.oneIn(2) ? "total" : "perDay", 4, "zone", "UTC"));
        }
        DrawDefinition definition = DrawDefinition.read(body.getMap());
        byte[] seed = new byte[Seed.BYTES];
        for (int i = 0; i < 4; i++) {
            seed[i] = (byte) world.random.nextInt();
        }
        draws.add(tables.add(id, shard, definition, new Seed(seed)));
        world.tell(() -> "draw " + id + " of shard " + shard + ": " + body.encode());
    }

    /** A user plays; often by a key that was used before. */
    void play(String user) {
        if (draws.isEmpty()) {
            return;
        }
        DrawRow draw = draws.get(world.random.nextInt(draws.size()));
        int plays = world.oneIn(4) ? 2 + world.random.nextInt(3) : 1;
        begin(new Asked(user, draw, "key-" + world.random.nextInt(4), plays, !world.oneIn(4)));
    }

    /** A lost key is noticed by the next play. */
    void playEach() {
        for (DrawRow draw : draws) {
            begin(new Asked("late", draw, "late", 1, true));
        }
    }

    /** Some users play, of draws that refuse a user in one round and not in the next, one more time. */
    void comeBack() {
        draws.stream().filter(Players::repeats).forEach(draw -> {
            for (int i = 0; i < 4; i++) {
                Asked asked = new Asked("user-" + i, draw, "back", 1, true);
                world.after(world.millis(0, 5), null, () -> begin(asked));
            }
        });
    }

    /** The host ends a draw early. */
    void end() {
        SimulatedServer server = history.someServer();
        if (server == null || draws.isEmpty()) {
            return;
        }
        DrawRow draw = draws.get(world.random.nextInt(draws.size()));
        world.after(
                world.transit(),
                server.host,
                () -> server.endDraw(draw.id).onComplete(done -> {
                    world.tell(() -> server.host + " ends draw " + draw.id + ": " + done);
                    history.check(
                            done.failed()
                                    || draw.closedAt != null
                                    || !draw.closes.toInstant().isAfter(tables.now()),
                            () -> "draw " + draw.id + " is not ended");
                }));
    }

    int unanswered() {
        return unanswered;
    }

    /** Postgres went back: some draws are lost. */
    void restored() {
        draws.clear();
        draws.addAll(tables.draws.values());
    }

    /** Postgres went back: answers from before may be other ones now. */
    void forgetAnswers() {
        answers.clear();
        refused.clear();
    }

    private void begin(Asked asked) {
        unanswered++;
        counts.computeIfAbsent(asked.request(), first -> new HashSet<>()).add(asked.plays);
        tables.fill(asked.user, PURSES[Math.floorMod(asked.user.hashCode(), PURSES.length)]);
        call(asked);
    }

    private void call(Asked asked) {
        SimulatedServer server = history.someServer();
        if (server == null) {
            world.after(world.millis(50, 200), null, () -> call(asked));
            return;
        }
        boolean[] over = {false};
        Runnable again = () -> {
            if (!over[0]) {
                over[0] = true;
                if (asked.isPatient) {
                    world.after(world.millis(20, 400), null, () -> call(asked));
                } else {
                    unanswered--;
                }
            }
        };
        world.after(world.transit(), server.host, () -> play(server, asked, over, again));
        history.watch(server, over, again, asked);
    }

    private void play(SimulatedServer server, Asked asked, boolean[] over, Runnable again) {
        long begun = world.now();
        List<PlayRow> before = tables.playsOf(asked.request());
        int settled = asked.draw.plays.size();
        boolean isFirst = calls.merge(asked.request(), 1, Integer::sum) == 1;
        history.check(!isFirst || before.isEmpty(), () -> asked + " was told that nothing was done, and has " + before);
        server.play(asked.user, asked.draw.id, asked.key, asked.plays).onComplete(done -> {
            history.checkInTime(server, begun, asked);
            if (done.succeeded()) {
                answered(server, asked, begun, settled, before, done.result());
            } else if (done.cause() instanceof RefusedException refusal) {
                refused(asked, refusal.refusal());
            } else {
                history.check(
                        done.cause() instanceof UnavailableException || done.cause() instanceof RedisFault,
                        () -> asked + " fails with " + done.cause());
                if (History.isOverloaded(done.cause()) && calls.get(asked.request()) == 1) {
                    RequestRow row = tables.requests.get(asked.request());
                    history.check(
                            row == null || !row.isHeld,
                            () -> asked + " is told that nothing was done, but its cost is held");
                    calls.remove(asked.request());
                }
                if (!history.givesUp(done.cause())) {
                    world.after(world.transit(), null, again);
                    return;
                }
            }
            world.after(world.transit(), null, () -> {
                if (!over[0]) {
                    over[0] = true;
                    unanswered--;
                }
            });
        });
    }

    private void refused(Asked asked, Refusal refusal) {
        world.tell(() -> "answer to " + asked + ": " + refusal);
        world.note(refusal.ordinal());
        if (!history.isSure()) {
            return;
        }
        boolean isTrue = refusal == Refusal.IDEMPOTENCY_KEY_REUSED
                ? counts.get(asked.request()).size() > 1
                : refusal == Refusal.INSUFFICIENT_FUNDS && tables.lowest(asked.user) < asked.draw.cost() * asked.plays;
        history.check(isTrue, () -> asked + " is refused as " + refusal);
    }

    private void answered(
            SimulatedServer server, Asked asked, long begun, int settled, List<PlayRow> before, PlayOutcome outcome) {
        List<Long> seqs = outcome.plays().stream().map(Play::seq).toList();
        world.tell(() -> "answer to " + asked + " at " + server.host + ": " + outcome.kind() + " " + seqs);
        world.note(outcome.kind().ordinal() * 31L + asked.user.hashCode());
        if (!history.isSure()) {
            return;
        }
        if (outcome.plays().isEmpty()) {
            // Calls that overlap may differ: the later one may play.
            List<PlayRow> known = calls.get(asked.request()) == 1 ? tables.playsOf(asked.request()) : before;
            history.check(
                    known.isEmpty() || history.isMisled(begun, asked.draw.id),
                    () -> asked + " is refused as " + outcome.kind() + ", but it has " + known);
            switch (outcome.kind()) {
                case CLOSED ->
                    history.check(
                            asked.draw.closedAt != null
                                    || !asked.draw.closes.toInstant().isAfter(tables.now()),
                            () -> asked + " is refused as closed too early");
                case LIMIT_REACHED, DAILY_LIMIT_REACHED, EXHAUSTED ->
                    refused.add(new Refused(asked, outcome.kind(), begun, settled, tables.now()));
                default ->
                    history.check(
                            outcome.kind() == PlayOutcome.Kind.NOT_FOUND && !tables.draws.containsKey(asked.draw.id),
                            () -> asked + " is refused as " + outcome.kind());
            }
            return;
        }
        history.check(
                before.isEmpty() || outcome.kind() == PlayOutcome.Kind.ALREADY_PLAYED,
                () -> asked + " is answered as " + outcome.kind() + ", but it had " + before);
        history.check(seqs.size() == asked.plays, () -> asked + " is answered with " + seqs);
        for (Play play : outcome.plays()) {
            PlayRow row = play.seq() < asked.draw.plays.size() ? asked.draw.plays.get((int) play.seq()) : null;
            history.check(
                    row != null
                            && row.request().equals(asked.request())
                            && row.prize() == play.number()
                            && row.user().equals(play.user().value()),
                    () -> asked + " is answered with " + play.seq() + " and prize " + play.number() + ", but has "
                            + row);
        }
        List<Long> known = answers.putIfAbsent(asked.request(), seqs);
        history.check(
                known == null || known.equals(seqs), () -> asked + " has had the plays " + known + ", now " + seqs);
    }

    /** Null if Redis has every draw as Postgres has it, and no draw is overdue; else what is missing. */
    @Nullable
    String unsettled(RedisServers redis, List<PostgresTables.Shard> shards) {
        for (DrawRow draw : draws) {
            PostgresTables.Shard shard = shards.get(draw.shard);
            String key = shard.stamp() + ":d:" + draw.id;
            if (draw.closedAt == null) {
                if (!draw.closes.toInstant().isAfter(tables.now())) {
                    return "draw " + draw.id + " is not closed";
                }
                Object next = redis.model(shard.id).call(List.of("HGET", key, "#"));
                if (!String.valueOf(draw.plays.size()).equals(next) && !(next == null && isIdle(draw))) {
                    return "draw " + draw.id + " of shard " + shard.id + " has " + draw.plays.size()
                            + " plays, and in Redis " + next;
                }
            }
        }
        return null;
    }

    /** Whether Postgres refuses every play before Redis is asked, so that no play notices that Redis lost the draw. */
    private static boolean isIdle(DrawRow draw) {
        return draw.cost() > 0 && isExhausted(draw, 1);
    }

    /** Whether a difference of Redis from Postgres is only an idle draw that Redis lacks. */
    boolean isIdle(String difference) {
        return draws.stream()
                .filter(Players::isIdle)
                .anyMatch(draw -> difference.equals("draw " + draw.id + " is open, and Redis lacks it"));
    }

    /** A cost that is neither spent nor returned; null for none. */
    @Nullable
    RequestRow held() {
        for (RequestRow each : tables.requests.values()) {
            if (each.isHeld) {
                return each;
            }
        }
        return null;
    }

    void checkEnd() {
        draws.forEach(this::checkDraw);
        draws.forEach(this::checkLimits);
        Map<String, Long> expected = new HashMap<>(tables.purses);
        for (DrawRow draw : draws) {
            for (PlayRow play : draw.plays) {
                long award = draw.definition
                        .allPrizes()
                        .get(play.prize() - 1)
                        .award()
                        .amount();
                expected.merge(play.user(), award - draw.cost(), Long::sum);
            }
        }
        expected.forEach((user, balance) -> history.check(
                tables.balance(user) == balance && tables.lowest(user) >= 0,
                () -> user + " has " + tables.balance(user) + " and had " + tables.lowest(user) + ", not " + balance));
        refused.forEach(this::checkRefusal);
    }

    private void checkLimits(DrawRow draw) {
        DrawDefinition.Limits limits = draw.definition.limits();
        for (String user : draw.players.keySet()) {
            long all = draw.playsOf(user, Instant.MIN);
            long nextDay = draw.playsOf(user, PostgresTables.MIDNIGHT);
            history.check(
                    history.wasMisled(draw.id)
                            || (limits.total() == 0 || all <= limits.total())
                                    && (limits.perDay() == 0
                                            || nextDay <= limits.perDay() && all <= 2L * limits.perDay()),
                    () -> user + " has " + all + " plays of draw " + draw.id + ", " + nextDay + " after midnight");
        }
    }

    /** A refusal counts earlier plays. It is wrong without them, unless Redis lost them or the operator dropped them. */
    private void checkRefusal(Refused each) {
        DrawRow draw = each.asked.draw;
        DrawDefinition.Limits limits = draw.definition.limits();
        long played = draw.playsOf(each.asked.user, Instant.MIN) + each.asked.plays;
        Instant nextDay = PostgresTables.MIDNIGHT.minus(
                SimulatedServer.BEHIND); // what a late clock played counts for the next day
        long thatDay =
                PostgresTables.isNextDay(each.at) ? draw.playsOf(each.asked.user, nextDay) + each.asked.plays : played;
        boolean isTrue = switch (each.kind) {
            case LIMIT_REACHED -> limits.total() > 0 && played > limits.total();
            case DAILY_LIMIT_REACHED -> limits.perDay() > 0 && thatDay > limits.perDay();
            default -> draw.definition.fallback() == null && (losesOut(each) || isExhausted(draw, each.asked.plays));
        };
        history.check(
                history.wasMisled(draw.id) || history.losesDataAfter(each.at, draw.id) || isTrue,
                () -> each.asked + " was refused as " + each.kind);
    }

    /**
     * Whether the round had no prize for the user, or a next round could not begin, at some moment between question and answer. Of several
     * plays the last ones may have met that.
     */
    private static boolean losesOut(Refused each) {
        DrawRow draw = each.asked.draw;
        if (!repeats(draw)) {
            return false;
        }
        long most = draw.plays.stream()
                .filter(play -> !play.at().toInstant().isAfter(each.answered))
                .count();
        return each.asked.plays > 1
                || LongStream.rangeClosed(each.settled, most).anyMatch(plays -> !mayWin(draw, each.asked.user, plays));
    }

    private static boolean repeats(DrawRow draw) {
        return draw.definition.whenExhausted() == DrawDefinition.WhenExhausted.REPEAT;
    }

    /** Whether a user may win a prize after so many plays of a table whose rounds repeat. */
    private static boolean mayWin(DrawRow draw, String user, long plays) {
        List<Prize> prizes = draw.definition.prizes();
        long round = plays / prizes.stream().mapToLong(Prize::chance).sum() + 1;
        boolean may = false;
        for (int i = 0; i < prizes.size(); i++) {
            Prize prize = prizes.get(i);
            int number = i + 1;
            List<PlayRow> wins = draw.plays.stream()
                    .limit(plays)
                    .filter(play -> play.prize() == number)
                    .toList();
            long ofUser = wins.stream().filter(play -> play.user().equals(user)).count();
            if (prize.stock() != null && prize.stock() < round * prize.chance()) {
                return false;
            }
            may |= wins.size() < round * prize.chance() && (prize.perUser() == 0 || ofUser < prize.perUser());
        }
        return may;
    }

    /** Whether all its prizes together do not suffice for some plays. */
    private static boolean isExhausted(DrawRow draw, int plays) {
        return draw.prizes.stream().allMatch(prize -> prize.stock != null)
                && draw.prizes.stream()
                                .mapToLong(prize -> prize.stock - prize.issued)
                                .sum()
                        < plays;
    }

    private void checkDraw(DrawRow draw) {
        long[] issued = new long[draw.prizes.size()];
        Map<UUID, Integer> parts = new HashMap<>();
        for (int seq = 0; seq < draw.plays.size(); seq++) {
            PlayRow play = draw.plays.get(seq);
            history.check(
                    play.seq() == seq
                            && play.nth() == ++issued[play.prize() - 1]
                            && play.part() == parts.merge(play.request(), 1, Integer::sum) - 1,
                    () -> "plays of draw " + draw.id + ": " + draw.plays);
        }
        for (int i = 0; i < issued.length; i++) {
            PrizeRow prize = draw.prizes.get(i);
            int number = i + 1;
            history.check(
                    issued[i] == prize.issued && (prize.stock == null || issued[i] <= prize.stock),
                    () -> "prize " + number + " of draw " + draw.id + " was won " + issued[number - 1] + " times of "
                            + prize.stock);
        }
        parts.forEach((request, count) -> history.check(
                counts.getOrDefault(request, Set.of()).contains(count),
                () -> "request " + request + " of draw " + draw.id + " has " + count + " plays"));
        if (!draw.plays.isEmpty() && !history.wasMisled(draw.id)) {
            List<String> wrong = contradictions(draw);
            history.check(wrong.isEmpty(), () -> "draw " + draw.id + " by its seed: " + wrong);
        }
    }

    /** The draw's plays, recomputed from its seed as anybody may. */
    private static List<String> contradictions(DrawRow draw) {
        JsonArray prizes = new JsonArray();
        draw.prizes.forEach(prize -> prizes.add(new JsonObject().put("issued", prize.issued)));
        StringBuilder evidence = new StringBuilder(new JsonObject()
                .put("id", draw.id.toString())
                .put("mode", draw.definition.mode().wireName())
                .put("seed", draw.seed.hex())
                .put("commitment", draw.seed.commitment(draw.id, draw.definition))
                .put("definition", new JsonObject(draw.definition.stored()))
                .put("finalTable", new JsonObject().put("prizes", prizes))
                .put("quotas", new JsonArray())
                .encode());
        draw.periods.keySet().forEach(period -> {
            JsonArray planned = new JsonArray();
            for (int prize = 1; prize <= draw.definition.prizes().size(); prize++) {
                int number = prize;
                planned.add(draw.releases.stream()
                        .filter(each -> each.period == period && each.prize == number)
                        .count());
            }
            evidence.append('\n')
                    .append(new JsonObject()
                            .put("draw", draw.id.toString())
                            .put("period", period)
                            .put("planned", planned)
                            .encode());
        });
        for (PlayRow play : draw.plays) {
            JsonObject line = new JsonObject()
                    .put("draw", draw.id.toString())
                    .put("seq", play.seq())
                    .put("user", play.user())
                    .put("number", play.prize())
                    .put("at", play.at().toInstant().toString())
                    .put("turn", play.request().toString());
            if (play.loaded() != null) {
                line.put("loaded", play.loaded());
            }
            if (play.period() != null) {
                line.put("period", play.period()).put("release", play.release());
            }
            evidence.append('\n').append(line.encode());
        }
        try {
            return Evidence.read(new ByteArrayInputStream(evidence.toString().getBytes(StandardCharsets.UTF_8)))
                    .contradictions();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
