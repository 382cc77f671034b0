package dev.hongbao.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.store.redis.Script;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisDataException;

/** The model runs the scripts as a real Redis does: the same replies, the same errors, the same keys. */
@ExtendWith(Servers.class)
class RedisModelIT {
    private static final String JOURNAL = "{s}:7-n:journal";
    private static final String ATTEMPTS = "{s}:7-n:attempts";
    private static final List<String> USERS = List.of("ann", "bob", "cat", "dan", "eve", "flo");
    private static final int PACKETS = 4;
    private static final int STEPS = 80;
    private static final long DAY = 20_000;

    private Jedis redis;
    private final RedisModel model = new RedisModel();

    /** Of one history; its steps follow from the seed. */
    private SplittableRandom random = new SplittableRandom(0);

    private final List<String> said = new ArrayList<>();
    private long now = 1_000_000;
    private int attempts;

    @BeforeEach
    void connect(TestServers servers) {
        redis = new Jedis(URI.create(servers.redisUrl()));
        redis.flushAll();
        model.replid = redis.info("replication").replaceAll("(?s).*master_replid:(\\w+).*", "$1");
    }

    @AfterEach
    void disconnect() {
        redis.configSet("maxmemory", "0");
        redis.close();
    }

    static LongStream seeds() {
        long first = Long.getLong("seed", System.nanoTime());
        return LongStream.range(first, first + Integer.getInteger("seeds", 15));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void theModelAnswersAndChangesWhatRedisDoes(long seed) {
        random = new SplittableRandom(seed);
        both(List.of("XADD", JOURNAL, "7-0", "open", "7-n"));
        both(List.of("ZADD", ATTEMPTS, "+inf", "#"));
        script("load", keys(packet(), packet(), packet()), List.of());
        loadDraw();
        loadDraw();

        for (int i = 0; i < STEPS; i++) {
            step();
            if (i % 16 == 0) {
                assertThat(model.dump()).as("seed %d, after %s", seed, said).isEqualTo(dump());
            }
        }

        assertThat(model.dump()).as("seed %d, after %s", seed, said).isEqualTo(dump());
    }

    private void step() {
        now += random.nextInt(400);
        switch (random.nextInt(30)) {
            case 0, 1 -> script("load", keys(packet(), packet()), List.of());
            case 2 -> {
                List<String> arguments = new ArrayList<>(List.of("one", "two early shop"));
                if (random.nextBoolean()) {
                    arguments.addAll(List.of("unclaimed", random.nextBoolean() ? "unclaimed" : ""));
                }
                script("close", keys(packet(), packet()), arguments);
            }
            case 3, 4 -> loadDraw();
            case 5, 6 -> loadPeriod();
            case 7 -> {
                int draw = random.nextInt(3);
                String period = random.nextInt(3) == 0 ? "-" : Integer.toString(random.nextInt(3));
                script("end", keys(draw(draw), schedule(draw)), List.of("draw-" + draw, period));
            }
            case 8 -> giveBack();
            case 9, 10 -> settle();
            case 11 -> disturb();
            case 12 -> administer();
            case 13, 14, 15, 16, 17, 18, 19, 20 -> claim();
            default -> play();
        }
    }

    private String packet() {
        return "{s}:7-n:p:" + random.nextInt(PACKETS);
    }

    private static String draw(int number) {
        return "{s}:7-n:d:" + number;
    }

    private static String schedule(int number) {
        return draw(number) + ":s";
    }

    private String user() {
        return USERS.get(random.nextInt(USERS.size()));
    }

    private static List<String> keys(String... others) {
        List<String> keys = new ArrayList<>(List.of(JOURNAL));
        keys.addAll(List.of(others));
        return keys;
    }

    private void claim() {
        int packets = 1 + random.nextInt(3);
        List<String> keys = keys();
        List<String> arguments = new ArrayList<>(List.of(limit(), Integer.toString(packets)));
        int first = random.nextInt(PACKETS);
        for (int k = 0; k < packets; k++) {
            keys.add("{s}:7-n:p:" + (first + k) % PACKETS);
        }
        keys.add("{s}:7-n:c:0");
        for (int k = 0; k < packets; k++) {
            int users = 1 + random.nextInt(4);
            boolean counts = random.nextInt(3) == 0;
            int count = random.nextInt(20) == 0 ? 0 : 5 + (first + k) % PACKETS;
            arguments.addAll(List.of("packet-" + k, Integer.toString(count), Integer.toString(users)));
            arguments.add(counts ? Integer.toString(keys.size()) : "0");
            if (counts) {
                arguments.addAll(List.of(
                        Integer.toString(random.nextInt(6)),
                        Integer.toString(random.nextInt(4)),
                        Integer.toString(random.nextInt(3)),
                        Long.toString(DAY + random.nextInt(2)),
                        "shoes"));
            }
            for (int i = 0; i < users; i++) {
                arguments.add(user());
            }
        }
        script("claim", keys, arguments);
    }

    /** The most entries of the journal: seldom reached. */
    private String limit() {
        return random.nextInt(12) == 0 ? "3" : "1000";
    }

    /** Mode by the draw's number: 0 a table, 1 weights, 2 a schedule. */
    private void loadDraw() {
        int mode = random.nextInt(3);
        LuaValue stock = numbers(random.nextInt(20) - 1, random.nextInt(9), -1);
        LuaValue rules = list(
                LuaValue.valueOf(mode),
                LuaValue.valueOf(random.nextInt(4)),
                numbers(2, 1, 3),
                numbers(random.nextInt(3), 0, random.nextInt(2)),
                numbers(1, 0, 0),
                LuaValue.valueOf(random.nextInt(2) * 3),
                LuaValue.valueOf(random.nextInt(2) * 6),
                LuaValue.valueOf(random.nextInt(2) * 3),
                random.nextBoolean() ? numbers(3) : numbers(),
                LuaValue.valueOf(1_000_000),
                LuaValue.valueOf(5_000),
                LuaValue.valueOf(random.nextInt(2)),
                LuaValue.valueOf(1));
        LuaValue state = list(LuaValue.valueOf(1), mode == 0 ? numbers(2, 1, 3) : numbers(), stock);
        script(
                "draw",
                mode == 2 ? keys(draw(mode), schedule(mode)) : keys(draw(mode)),
                List.of(packed(rules), packed(state)));
    }

    private void loadPeriod() {
        int period = random.nextInt(3);
        List<String> arguments = new ArrayList<>(List.of(Integer.toString(period)));
        for (int n = 0; n < random.nextInt(5); n++) {
            arguments.add(Long.toString(1_000_000 + 5_000L * period + random.nextInt(5_000)));
            arguments.add(period + ":" + (1 + random.nextInt(3)) + ":" + n);
        }
        if (arguments.size() > 1) {
            script("period", keys(draw(2), schedule(2)), arguments);
        }
    }

    private void play() {
        List<String> keys = keys(ATTEMPTS);
        List<String> arguments = new ArrayList<>(List.of(limit(), Long.toString(now)));
        for (int number : random.nextBoolean() ? new int[] {random.nextInt(3)} : new int[] {0, 2}) {
            int requests = 1 + random.nextInt(3);
            keys.addAll(List.of(draw(number), schedule(number)));
            arguments.addAll(
                    List.of("draw-" + number, Long.toString(DAY + random.nextInt(2)), Integer.toString(requests)));
            for (int i = 0; i < requests; i++) {
                int attempt = random.nextInt(5) == 0 ? random.nextInt(attempts + 1) : ++attempts;
                int plays = 1 + random.nextInt(3);
                LuaValue chance = numbers(random.longs((long) plays * (1 + random.nextInt(8)), 0, 1L << 52)
                        .toArray());
                arguments.addAll(List.of(
                        "request-" + attempt,
                        "attempt-" + attempt,
                        user(),
                        Integer.toString(plays),
                        Integer.toString(random.nextInt(2)),
                        packed(chance)));
            }
        }
        script("play", keys, arguments);
    }

    private void giveBack() {
        List<String> arguments = new ArrayList<>(List.of(Long.toString(now), Integer.toString(random.nextInt(30) - 5)));
        for (int i = 0; i < random.nextInt(3); i++) {
            int attempt = random.nextInt(attempts + 2);
            arguments.addAll(List.of("draw-0", "request-" + attempt, "attempt-" + attempt, user()));
        }
        script("return", keys(ATTEMPTS), arguments);
    }

    /** Trims the journal, as a settlement does. */
    private void settle() {
        if (redis.type(JOURNAL).equals("stream")) {
            String upTo = "7-" + random.nextInt(20);
            said.add("trim to " + upTo);
            redis.sendCommand(Protocol.Command.XTRIM, JOURNAL, "MINID", upTo);
            model.trim(JOURNAL, upTo);
        }
    }

    /** The commands that recovery and the owner use. */
    private void administer() {
        String key = random.nextBoolean() ? packet() : JOURNAL;
        both(List.of("TYPE", key));
        both(List.of("HEXISTS", key, user()));
        both(List.of("HLEN", draw(random.nextInt(3))));
        both(List.of("ZCOUNT", schedule(2), "(-inf", "+inf"));
        both(List.of("ZMSCORE", schedule(2), "#", "0:1:0"));
        both(List.of("XTRIM", key, "MINID", "=", "7-" + random.nextInt(20)));
        both(List.of("XRANGE", key, "(7-" + random.nextInt(5), "7", "COUNT", "3"));
        both(List.of("ZADD", "{s}:epochs", "GT", Integer.toString(random.nextInt(9)), "0"));
        both(List.of("ZSCORE", "{s}:epochs", "0"));
        both(List.of("SET", "{s}:owner", "one", "NX"));
        both(List.of("SET", "{s}:owner", "two", "NX"));
        both(List.of("GET", "{s}:owner"));
        both(List.of("TYPE", "{s}:owner"));
        both(List.of("UNLINK", "{s}:owner", "{s}:nobody"));
        if (random.nextInt(8) == 0) {
            both(List.of("RENAMENX", JOURNAL, "{s}:retired"));
            both(List.of("RENAMENX", JOURNAL, "{s}:retired"));
            both(List.of("RENAMENX", "{s}:retired", JOURNAL));
        }
        compareInfo();
    }

    /** XINFO STREAM tells more than the model. */
    private void compareInfo() {
        Map<String, String> real = new TreeMap<>();
        if (redis.type(JOURNAL).equals("stream")) {
            Connection connection = redis.getConnection();
            connection.sendCommand(Protocol.Command.XINFO, "STREAM", JOURNAL);
            List<?> all = connection.getObjectMultiBulkReply();
            for (int i = 0; i < all.size(); i += 2) {
                real.put(text(all.get(i)), text(all.get(i + 1)));
            }
            List<?> modelled = (List<?>) model.call(List.of("XINFO", "STREAM", JOURNAL));
            for (int i = 0; i < modelled.size(); i += 2) {
                String name = String.valueOf(modelled.get(i));
                assertThat(String.valueOf(modelled.get(i + 1))).as(name).isEqualTo(real.get(name));
            }
        }
    }

    private void disturb() {
        switch (random.nextInt(9)) {
            case 0 -> both(List.of("DEL", JOURNAL));
            case 1 -> {
                if (!redis.exists(JOURNAL)) {
                    both(List.of("XADD", JOURNAL, "7-0", "open", "7-n"));
                }
            }
            case 2 -> both(List.of("HSET", packet(), user(), random.nextBoolean() ? "7" : "nonsense"));
            case 3 -> both(List.of("HSET", packet(), "#", random.nextBoolean() ? "nonsense" : "2"));
            case 4 -> both(List.of("HSET", "{s}:7-n:c:0", "#", "1"));
            case 5 -> both(List.of("DEL", random.nextBoolean() ? schedule(2) : packet()));
            case 6 -> both(List.of("ZADD", ATTEMPTS, "3", "attempt-" + random.nextInt(attempts + 1)));
            case 7 -> both(random.nextBoolean() ? List.of("DEL", ATTEMPTS) : List.of("ZADD", ATTEMPTS, "+inf", "#"));
            default -> {
                redis.configSet("maxmemory", "1");
                model.fill(true);
                claim();
                play();
                script("close", keys(packet()), List.of("one"));
                both(List.of("HSET", packet(), user(), "1"));
                both(List.of("ZADD", "{s}:epochs", "GT", "9", "0"));
                both(List.of("UNLINK", "{s}:nobody"));
                redis.configSet("maxmemory", "0");
                model.fill(false);
            }
        }
    }

    private static LuaTable list(LuaValue... values) {
        return LuaValue.listOf(values);
    }

    private static LuaTable numbers(long... numbers) {
        return list(LongStream.of(numbers)
                .mapToObj(number -> LuaValue.valueOf((double) number))
                .toArray(LuaValue[]::new));
    }

    private static String packed(LuaValue value) {
        return new String(MessagePack.pack(value), StandardCharsets.ISO_8859_1);
    }

    private void script(String name, List<String> keys, List<String> arguments) {
        said.add(name + keys + arguments);
        String text = Script.read(name)
                .replace("@generation@", "7-n")
                .replace("@epoch@", "7")
                .replace("@replid@", random.nextInt(10) == 0 ? "another" : model.replid);
        List<byte[]> call = new ArrayList<>(List.of(bytes(text), bytes(Integer.toString(keys.size()))));
        keys.forEach(key -> call.add(bytes(key)));
        arguments.forEach(argument -> call.add(bytes(argument)));
        compare(() -> model.eval(text, keys, arguments), Protocol.Command.EVAL, call);
    }

    private void both(List<String> command) {
        said.add(command.toString());
        compare(
                () -> model.call(command),
                Protocol.Command.valueOf(command.get(0)),
                command.stream().skip(1).map(RedisModelIT::bytes).toList());
    }

    private interface Reply {
        @Nullable
        Object get();
    }

    /** An error is compared by its first word. */
    private void compare(Reply reply, Protocol.Command command, List<byte[]> arguments) {
        String expected;
        try {
            Connection connection = redis.getConnection();
            connection.sendCommand(command, arguments.toArray(byte[][]::new));
            expected = text(connection.getOne());
        } catch (JedisDataException error) {
            expected = firstWord(error.getMessage());
        }
        String actual;
        try {
            actual = text(reply.get());
        } catch (RedisModel.RedisError error) {
            actual = firstWord(error.getMessage());
        }
        assertThat(actual).as(() -> "reply after " + String.join("\n", said)).isEqualTo(expected);
    }

    private static String firstWord(String message) {
        return message.split(" ", 2)[0];
    }

    private static String text(@Nullable Object reply) {
        if (reply instanceof byte[] bytes) {
            return new String(bytes, StandardCharsets.ISO_8859_1);
        } else if (reply instanceof List<?> list) {
            return list.stream().map(RedisModelIT::text).collect(Collectors.joining(", ", "[", "]"));
        }
        return String.valueOf(reply);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private Map<String, String> dump() {
        Map<String, String> all = new TreeMap<>();
        for (String key : redis.keys("*")) {
            switch (redis.type(key)) {
                case "hash" -> {
                    Map<String, String> hash = new TreeMap<>();
                    redis.hgetAll(bytes(key)).forEach((field, value) -> hash.put(text(field), text(value)));
                    all.put(key, hash.toString());
                }
                case "zset" ->
                    all.put(
                            key,
                            redis.zrangeWithScores(key, 0, -1).stream()
                                    .map(each -> each.getElement() + "=" + score(each.getScore()))
                                    .collect(Collectors.joining(" ")));
                default -> {
                    Map<String, List<String>> entries = new java.util.LinkedHashMap<>();
                    Connection connection = redis.getConnection();
                    connection.sendCommand(Protocol.Command.XRANGE, key, "-", "+");
                    connection.getObjectMultiBulkReply().forEach(entry -> {
                        List<?> parts = (List<?>) entry;
                        entries.put(
                                text(parts.get(0)),
                                ((List<?>) parts.get(1))
                                        .stream().map(RedisModelIT::text).toList());
                    });
                    all.put(key, entries.toString());
                }
            }
        }
        return all;
    }

    private static String score(double score) {
        if (Double.isInfinite(score)) {
            return score > 0 ? "inf" : "-inf";
        }
        return Long.toString((long) score);
    }
}
