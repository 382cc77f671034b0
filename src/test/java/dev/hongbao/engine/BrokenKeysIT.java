package dev.hongbao.engine;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.campaign.Campaign;
import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Play;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.StreamEntryID;

/**
 * A key of ours that is missing, of another type or nonsense, each alone: the next call that needs it notices, and the shard is recovered.
 * Every key of "In Redis" in the architecture is here.
 */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BrokenKeysIT {
    private static final Duration IN_TIME = Duration.ofSeconds(15);

    /** So many that no shard breaks twice within a second: its owner drops a report that comes so soon. */
    private static final int SHARDS = 5;

    private TestEngine engine;
    private TestCampaigns campaigns;
    private TestDraws draws;
    private Books books;
    private Jedis redis;
    private List<Units> shards;
    private int turn;
    private int users;

    @BeforeAll
    void start(TestServers given) {
        books = new Books(given);
        redis = new Jedis(URI.create(given.redisUrl()));
        engine = TestEngine.start(given, 1, Map.of("shards", Integer.toString(SHARDS)));
        campaigns = new TestCampaigns(engine);
        draws = new TestDraws(engine);
        engine.deposit("alice", 1_000_000_000);
        engine.deposit("shop", 1_000_000_000);
        Map<Integer, Packet> packets = ofEachShard(Packet::shard, () -> engine.send("alice", 10_000, 1_000));
        Map<Integer, Campaign.View> limited = ofEachShard(
                made -> made.campaign().shard(),
                () -> campaigns.create(TestCampaigns.limited(100_000, 500, 400, 0, 0)));
        Map<Integer, Draw> tables = ofEachShard(
                Draw::shard,
                () -> draws.create(
                        "{mode: table, whenExhausted: repeat, limits: {total: 900}, prizes: [{name: P, count: 10}]}"));
        Map<Integer, Draw> schedules = ofEachShard(
                Draw::shard, () -> draws.create("""
            mode: schedule
            closesAt: "%s"
            schedule: {periodSeconds: 60}
            prizes: [{name: gold, quota: 600, stock: 1000000}]
            fallback: {name: thanks}
            """.formatted(Instant.now().plus(Duration.ofHours(2)))));
        shards = IntStream.range(0, SHARDS)
                .mapToObj(shard -> new Units(
                        shard, packets.get(shard), limited.get(shard), tables.get(shard), schedules.get(shard)))
                .toList();
        shards.forEach(each -> eventually(IN_TIME, each::work)); // the first gold falls after some 100 ms
    }

    private static <T> Map<Integer, T> ofEachShard(ToIntFunction<T> shardOf, Supplier<T> make) {
        Map<Integer, T> made = new HashMap<>();
        for (int i = 0; i < 400 && made.size() < SHARDS; i++) {
            T one = make.get();
            made.putIfAbsent(shardOf.applyAsInt(one), one);
        }
        assertThat(made).hasSize(SHARDS);
        return made;
    }

    @AfterAll
    void stop() {
        eventually(IN_TIME, books::assertJournalsEmpty);
        books.assertReconciled();
        engine.close();
        redis.close();
    }

    private record Damage(String key, String what) {
        @Override
        public String toString() {
            return key + " " + what;
        }
    }

    /** A field of a hash, and what it is set to; without a value it is deleted. */
    static List<Damage> damages() {
        Stream<Damage> everyKey = Stream.of(
                        "journal", "p", "c", "d", "t", "m", "attempts", "retired", "epochs", "installation")
                .flatMap(key -> Stream.of("deleted", "string").map(what -> new Damage(key, what)));
        Stream<Damage> nonsense = Stream.of(
                new Damage("journal", "entry"),
                new Damage("journal", "another"),
                new Damage("p", "#=abc"),
                new Damage("p", "#=99999"),
                new Damage("p", "!=abc"),
                new Damage("p", "bob=abc"),
                new Damage("p", "bob=99999"),
                new Damage("p", "#"),
                new Damage("c", "#"),
                new Damage("c", "bob=abc"),
                new Damage("d", "~=abc"),
                new Damage("d", "~"),
                new Damage("t", "#"),
                new Damage("t", "#=abc"),
                new Damage("t", "!=abc"),
                new Damage("t", "*=abc"),
                new Damage("t", "*"),
                new Damage("t", "=="),
                new Damage("t", "==abc"),
                new Damage("t", "bob=abc"),
                new Damage("m", "members"),
                new Damage("attempts", "members"),
                new Damage("epochs", "members"));
        return Stream.concat(everyKey, nonsense).toList();
    }

    /** A packet, a campaign with a pool, and two draws of one shard. */
    private final class Units {
        private final int shard;
        private final Packet packet;
        private final Campaign.View campaign;
        private final Draw table;
        private final Draw schedule;
        private Packet pool;

        Units(int shard, Packet packet, Campaign.View campaign, Draw table, Draw schedule) {
            this.shard = shard;
            this.packet = packet;
            this.campaign = campaign;
            this.table = table;
            this.schedule = schedule;
            pool = campaigns.open(campaign, "opener", "shoe");
        }

        private String name(String key) {
            String stamp = books.stamps().get(shard);
            String prefix = stamp.substring(0, stamp.indexOf('}') + 2);
            return switch (key) {
                case "p" -> stamp + ":p:" + packet.id();
                case "c" -> stamp + ":c:" + campaign.campaign().id();
                case "d" -> stamp + ":d:" + schedule.id();
                case "t" -> stamp + ":d:" + table.id();
                case "m" -> stamp + ":m:" + schedule.id();
                case "epochs", "installation" -> prefix + key;
                default -> stamp + ":" + key;
            };
        }

        private void damage(String key, String what) {
            String name = name(key);
            switch (what) {
                case "deleted" -> redis.del(name);
                case "string" -> {
                    redis.del(name);
                    redis.set(name, "abc");
                }
                case "entry" -> redis.xadd(name, StreamEntryID.NEW_ENTRY, Map.of("abc", "abc"));
                case "another" -> {
                    redis.del(name);
                    redis.xadd(name, new StreamEntryID(0, 1), Map.of("abc", "abc"));
                }
                case "members" -> {
                    redis.del(name);
                    redis.zadd(name, 1.5, key.equals("epochs") ? Integer.toString(shard) : "abc");
                }
                default -> {
                    int is = what.indexOf('=', 1);
                    if (is < 0) {
                        redis.hdel(name, what);
                    } else if (what.equals("==")) {
                        redis.hdel(name, "=");
                    } else {
                        redis.hset(name, what.substring(0, is), what.substring(is + 1));
                    }
                }
            }
        }

        /** A repeated claim or play gets its first answer, and a new user gets a new share. */
        private void work() {
            String user = "u" + users++;
            assertThat(engine.claim(packet, "bob").kind()).isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED);
            assertThat(engine.claim(pool, "bob").kind()).isIn(Kind.CLAIMED, Kind.ALREADY_CLAIMED);
            assertThat(engine.claim(packet, user).kind()).isEqualTo(Kind.CLAIMED);
            assertThat(engine.claim(pool, user).kind()).isEqualTo(Kind.CLAIMED);
            assertThat(prizes(get(draws.play(0, table, "bob")))).containsExactly("P");
            assertThat(prizes(get(draws.play(0, schedule, user)))).containsExactly("gold");
        }
    }

    @ParameterizedTest
    @MethodSource("damages")
    void whatIsBrokenAloneIsNoticedAndRecovered(Damage damage) {
        // Given
        Units units = shards.get(turn++ % SHARDS);

        // When
        units.damage(damage.key, damage.what);
        if (damage.key.equals("c")) { // only who claims from a pool for the first time needs the counts
            units.pool = campaigns.open(units.campaign, "opener" + users, "shoe");
        }
        if (List.of("retired", "installation").contains(damage.key)) {
            units.damage("journal", "deleted"); // only a recovery needs them
        }

        // Then
        eventually(IN_TIME, units::work);
        eventually(IN_TIME, () -> assertThat(redis.type(units.name("journal"))).isEqualTo("stream"));
        eventually(
                IN_TIME,
                () -> assertThat(redis.zscore(units.name("epochs"), Integer.toString(units.shard)))
                        .isEqualTo(books.longOf("select epoch from shard where id = " + units.shard)));
        assertThat(books.strings("select id::text from installation")).contains(redis.get(units.name("installation")));
        if (turn % SHARDS == 0) { // one damage in each shard
            eventually(IN_TIME, books::assertReconciled);
        }
    }

    private static List<String> prizes(PlayOutcome outcome) {
        assertThat(outcome.kind()).isEqualTo(PlayOutcome.Kind.PLAYED);
        return outcome.plays().stream().map((Play play) -> play.prize().name()).toList();
    }
}
