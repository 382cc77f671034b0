package dev.hongbao.draw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.odds.Chance;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.DrawModel;
import dev.hongbao.draw.odds.DrawRules;
import dev.hongbao.store.redis.MessagePack;
import dev.hongbao.store.redis.Script;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.XAddParams;

/** The script against its twin: the same numbers give the same prizes, refusals and counters, play by play. */
@ExtendWith(Servers.class)
class PlayScriptIT {
    private static final int STARVED = -4;

    private final Jedis redis;
    private byte[] script = script("");

    PlayScriptIT(TestServers servers) {
        redis = new Jedis(URI.create(servers.redisUrl()));
        redis.flushAll();
        redis.xadd("journal", Map.of("open", "1"), XAddParams.xAddParams().id("1-0"));
        redis.zadd("attempts", Double.POSITIVE_INFINITY, DrawKeys.MARK);
    }

    private static byte[] script(String replid) {
        return bytes(Script.read("play")
                .replace("@generation@", "{s0}:1-test")
                .replace("@epoch@", "1")
                .replace("@replid@", replid));
    }

    private static byte[] bytes(Object value) {
        return value instanceof byte[] raw ? raw : String.valueOf(value).getBytes(StandardCharsets.UTF_8);
    }

    /** A draw without plays. */
    private DrawRules load(String draw, String yaml) {
        DrawRules rules = TestDraws.definition(yaml).openedAt(Instant.EPOCH).rules();
        redis.hset(
                bytes("d:" + draw),
                Map.of(bytes("#"), bytes("0"), bytes("*"), DrawState.rules(rules), bytes("="), DrawState.first(rules)));
        return rules;
    }

    /**
     * Plays requests of one draw in one call, with numbers for each: ten plays for users whose name begins so, else one.
     *
     * @return outcomes, and the prizes of those played, in order; of a release with its number in the thousands
     */
    private List<Integer> call(String draw, long now, long day, List<long[]> numbers, List<String> users) {
        List<byte[]> args = new ArrayList<>();
        List.of(100_000, now, draw, day, users.size()).forEach(each -> args.add(bytes(each)));
        for (int i = 0; i < users.size(); i++) {
            String user = users.get(i);
            String id = UUID.randomUUID().toString();
            List.of(id, id, user, user.startsWith("ten") ? 10 : 1, 0, MessagePack.numbers(numbers.get(i)))
                    .forEach(each -> args.add(bytes(each)));
        }
        List<byte[]> keys = List.of(bytes("journal"), bytes("attempts"), bytes("d:" + draw), bytes("m:" + draw));
        List<?> reply = (List<?>) redis.eval(script, keys, args);
        String[] outcomes = new String((byte[]) reply.get(1), StandardCharsets.UTF_8).split(" ");
        List<Integer> prizes = new ArrayList<>();
        int next = 0;
        for (String outcome : outcomes) {
            if (outcome.equals("+")) {
                String item = new String((byte[]) ((List<?>) reply.get(2)).get(next++), StandardCharsets.UTF_8);
                String[] won = item.split(" ")[6].split(":|,");
                prizes.add(Integer.parseInt(won[0]) + (won.length == 4 ? 1000 * Integer.parseInt(won[3]) : 0));
                assertThat(item.split(" ").length == 9).as(item).isEqualTo(redis.hexists("d:" + draw, "~"));
            } else {
                prizes.add(
                        switch (outcome) {
                            case "limit" -> -1;
                            case "day" -> -2;
                            case "exhausted" -> -3;
                            case "?" -> STARVED;
                            default -> throw new AssertionError(outcome);
                        });
            }
        }
        return prizes;
    }

    private static int expected(DrawModel.Result result) {
        DrawModel.Refused refused = result.refused();
        DrawModel.Release release = result.release();
        return refused == null
                ? result.prize() + (release == null ? 0 : 1000 * release.number())
                : switch (refused) {
                    case LIMIT -> -1;
                    case DAILY_LIMIT -> -2;
                    case EXHAUSTED -> -3;
                };
    }

    /** With thousands of releases nobody else could use Redis meanwhile. */
    @Test
    void aPlayReadsNoMoreReleasesThanItNeeds() {
        // Given a user with the prize that a user may win once, and 1,000 releases of it that are due
        String draw = UUID.randomUUID().toString();
        load(draw, "{mode: schedule, prizes: [{name: a, quota: 9, stock: 9000, perUser: 1}], fallback: {name: f}}");
        redis.hset("d:" + draw, "~", "0");
        redis.zadd("m:" + draw, Double.NEGATIVE_INFINITY, DrawKeys.MARK);
        for (int n = 1; n <= 1_000; n++) {
            redis.zadd("m:" + draw, n, "0:1:" + n);
        }
        assertThat(call(draw, 5_000, 0, List.of(new long[20]), List.of("ann"))).containsExactly(1_001);
        long before = pages();

        // When
        List<Integer> prizes = call(draw, 5_000, 0, List.of(new long[20], new long[20]), List.of("ann", "bob"));

        // Then
        assertThat(prizes).containsExactly(2, 2_001);
        assertThat(pages() - before).isOne();
        assertThat(call(draw, 5_000, 0, List.of(new long[20]), List.of("bob"))).containsExactly(2);
        assertThat(pages() - before).isOne();
    }

    private long pages() {
        String stats = redis.info("commandstats");
        Matcher calls = Pattern.compile("cmdstat_zrangebyscore:calls=([0-9]+)").matcher(stats);
        return calls.find() ? Long.parseLong(calls.group(1)) : 0;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        mode: table, prizes: [{name: a, count: 3}, {name: b, count: 30}]
        mode: table, whenExhausted: repeat, prizes: [{name: a, count: 2, stock: 9}, {name: b, count: 11}]
        mode: table, whenExhausted: repeat, prizes: [{name: a, count: 2, stock: 9}, {name: b, count: 11}], fallback: {name: f, stock: 7}
        mode: table, whenExhausted: rescale, prizes: [{name: a, count: 4, stock: 9}, {name: b, count: 5, perUser: 3}, {name: c, count: 7}], fallback: {name: f}
        mode: table, whenExhausted: fallback, guarantees: [{category: r, plays: 6}], prizes: [{name: a, category: r, count: 5}, {name: b, count: 45}], fallback: {name: f}
        mode: weights, prizes: [{name: a, weight: 1}, {name: b, weight: 2}, {name: c, weight: 999999997}]
        mode: weights, guarantees: [{category: r, plays: 4}, {category: s, plays: 9}], prizes: [{name: a, category: r, weight: 1, stock: 30}, {name: b, category: s, weight: 1, perUser: 2}, {name: c, weight: 50}], fallback: {name: f}
        mode: weights, limits: {total: 12, perDay: 4, zone: UTC}, prizes: [{name: a, weight: 5}, {name: b, weight: 2}]
        mode: schedule, prizes: [{name: a, quota: 9, stock: 99, perUser: 2}, {name: b, quota: 9, stock: 99}], fallback: {name: f}
        mode: schedule, schedule: {carryOver: false}, guarantees: [{category: r, plays: 7}], prizes: [{name: a, category: r, quota: 9, stock: 99}, {name: b, quota: 9, stock: 99}], fallback: {name: f, stock: 150}
        """)
    void theScriptAndTheModelAgree(String yaml) {
        for (long seed = 1; seed <= 5; seed++) {
            // Given the same draw in Redis and in memory
            Random random = new Random(seed);
            String draw = UUID.randomUUID().toString();
            DrawRules rules = load(draw, "{" + yaml + "}");
            List<Long> numbers = new ArrayList<>();
            Chance chance = () -> numbers.remove(0);
            DrawModel model = new DrawModel(rules, chance);
            if (rules.mode() == DrawDefinition.Mode.SCHEDULE) {
                redis.hset("d:" + draw, "~", "0");
                redis.zadd("m:" + draw, Double.NEGATIVE_INFINITY, DrawKeys.MARK);
                for (int n = 1; n <= 120; n++) {
                    int prize = 1 + random.nextInt(2);
                    // often two of one moment
                    long moment = n / 2 * 300_000L + random.nextInt(3) * 50_000L;
                    model.release(new DrawModel.Release(0, prize, n), moment);
                    redis.zadd("m:" + draw, moment, "0:" + prize + ":" + n);
                }
            }

            // When both are played with the same numbers
            long now = 0;
            for (int call = 0; call < 40; call++) {
                now += random.nextInt(600_000);
                long day = now / 3_600_000;
                List<String> users = random.ints(1 + random.nextInt(9), 0, 6)
                        .mapToObj(i -> "user" + i)
                        .toList();
                List<long[]> given = users.stream()
                        .map(user -> random.longs(20)
                                .map(each -> each >>> 12)
                                // often one of those that must be thrown away
                                .map(each -> each % 3 == 0 ? Chance.RANGE - 1 - each % 2 : each)
                                .toArray())
                        .toList();
                List<Integer> seen = call(draw, now, day, given, users);
                List<Integer> promised = new ArrayList<>();
                for (int i = 0; i < users.size(); i++) {
                    numbers.clear();
                    for (long each : given.get(i)) {
                        numbers.add(each);
                    }
                    promised.add(expected(model.play(users.get(i), now, day)));
                }

                // Then
                assertThat(seen).as("seed %d call %d of %s", seed, call, yaml).isEqualTo(promised);
            }
        }
    }

    @Test
    void aTurnThatCannotBePlayedToItsEndLeavesNothingToThoseAfterIt() {
        // Given a draw of five
        load("y", "{mode: table, limits: {total: 50}, prizes: [{name: a, count: 2}, {name: b, count: 3}]}");
        List<String> users = List.of("tenfold", "a", "b", "c", "d", "e", "f");
        Random random = new Random(1);
        List<long[]> numbers = users.stream()
                .map(user -> random.longs(60).map(each -> each >>> 12).toArray())
                .toList();

        // When
        List<Integer> prizes = call("y", 0, 0, numbers, users);

        // Then
        assertThat(prizes.get(0)).isEqualTo(-3);
        assertThat(prizes.subList(1, 6)).containsExactlyInAnyOrder(1, 1, 2, 2, 2);
        assertThat(prizes.get(6)).isEqualTo(-3);
        assertThat(redis.hexists("d:y", "tenfold")).isFalse();
    }

    @Test
    void tooFewNumbersChangeNothing() {
        // Given
        DrawRules rules = load("x", "{mode: table, prizes: [{name: a, count: 3}, {name: b, count: 30}]}");

        // Then
        long thrownAway = Chance.RANGE - 1;
        assertThat(call("x", 0, 0, List.of(new long[] {thrownAway, thrownAway}, new long[] {5, 5}), List.of("a", "b")))
                .containsExactly(STARVED, STARVED);
        assertThat(redis.xlen("journal")).isEqualTo(1);
        assertThat(redis.hget(bytes("d:x"), bytes("="))).isEqualTo(DrawState.first(rules));
    }

    private void assertFencedOff(String draw) {
        assertThatThrownBy(() -> call(draw, 0, 0, List.of(new long[] {5}), List.of("a")))
                .hasMessageContaining("NO_JOURNAL");
    }

    /** Its data may lack settled plays. */
    @Test
    void aRedisOfAnotherHistoryRefusesNobody() {
        // Given a draw that is closed there
        redis.hset("d:z", Map.of("#", "0", "!", "1"));

        // When
        script = script("another");

        // Then
        assertFencedOff("z");
    }

    /** Its data may lack settled plays and loaded periods, so the draw's seed would contradict its plays. */
    @Test
    void aRedisOfAnotherHistoryPlaysNothing() {
        // Given
        load("w", "{mode: table, prizes: [{name: a, count: 3}]}");

        // When
        script = script("another");

        // Then
        assertFencedOff("w");
        assertThat(redis.hget("d:w", "#")).isEqualTo("0");
        assertThat(redis.xlen("journal")).isEqualTo(1);
    }

    /** Its keys are removed while late calls come; their set of decided attempts is not lost. */
    @Test
    void aGenerationThatIsOverIsNotCalledBroken() {
        // Given
        load("o", "{mode: table, prizes: [{name: a, count: 3}]}");

        // When
        redis.del("journal", "attempts");

        // Then
        assertFencedOff("o");
    }
}
