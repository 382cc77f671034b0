package dev.hongbao.simulation;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.campaign.Campaign;
import dev.hongbao.draw.Draw;
import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.packet.Packet;
import dev.hongbao.simulation.PostgresTables.CampaignRow;
import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestCampaigns;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.PoolOptions;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The model answers and changes what a real Postgres does: the same rows, the same refusals. */
@ExtendWith(Servers.class)
class PostgresTablesIT {
    private static final String SETTLE =
            "select settled_at, drained, void from settle_claims($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    private static final String SETTLE_BUT_VOID =
            "select settled_at, drained, void from settle_claims_but_void($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    private static final String CLOSE =
            "select settled_at, closed, closed_shards, early from settle_closes($1, $2, $3, $4, $5, $6, $7, $8)";
    private static final String MOVE =
            "select settled_at from (select move_cursors($1, $2, $3, $4, $5), now() as settled_at) as moved";
    private static final String ROWS = "select id, epoch, nonce, last_seq, replid, restored,"
            + " array(select q.id from quarantine_unit as q where q.shard = shard.id) as aside from shard order by id";
    private static final String PROGRESS =
            "select amount, due, closed_at, refund, ending, held, claimed_count, seed from packet_state where id = $1";
    private static final String CLAIMS = "select packet, user_id, slot, amount, asset, at from settled_claims($1, $2)";
    private static final String HOLD = sql("draw.PlayRequestStore", "HOLD");
    private static final String SETTLE_PLAYS = sql("draw.PlaySettler", "SETTLE");
    private static final String SETTLE_ENDS = sql("draw.EndSettler", "SETTLE");

    /** A recovery's queries about a shard's draws. */
    private static final List<String> LOADED = List.of(
            sql("draw.DrawShardLoader", "OPEN"),
            sql("draw.DrawShardLoader", "PLAYERS"),
            sql("draw.DrawShardLoader", "NOT_TAKEN"));

    /** An owner's queries about draws. */
    private static final List<String> OWNED = List.of(
            "select d.id, d.shard from " + sql("draw.DrawStore", "SCHEDULED"),
            sql("draw.DrawOwnerTask", "ENDS") + sql("draw.DrawOwnerTask", "DUE").formatted("$2"),
            sql("draw.DrawOwnerTask", "ENDS")
                    + sql("draw.DrawOwnerTask", "PERIODS_OVER").formatted("$2"),
            "select f.draw from " + sql("feed.DrawFeedTask", "OPENING") + " limit $2",
            sql("feed.DrawFeedTask", "UNTOLD"));

    /** Queries about a request. */
    private static final List<String> OF_REQUESTS =
            List.of(sql("draw.PlayRequestStore", "LATEST"), sql("draw.PlayRequestStore", "PLAYS"));

    private static final List<String> DRAWS = List.of(
            "{mode: table, prizes: [{name: a, count: 2}, {name: b, count: 6}]}",
            "{mode: table, whenExhausted: rescale, cost: {asset: CNY, amount: 10}, limits: {total: 4},"
                    + " prizes: [{name: a, count: 2, stock: 4}, {name: b, count: 2, stock: 5}]}",
            "{mode: weights, fallback: {name: thanks}, cost: {asset: CNY, amount: 10}, limits: {perDay: 3, zone: UTC},"
                    + " prizes: [{name: a, weight: 1, stock: 3, award: {asset: CNY, amount: 7}}]}",
            "{mode: schedule, fallback: {name: thanks}, schedule: {periodSeconds: 1, carryOver: false},"
                    + " prizes: [{name: a, quota: 2, stock: 3}, {name: b, quota: 3, stock: 9}]}");

    private static final List<String> USERS = List.of("ann", "bob", "cat", "dan", "eve", "flo");
    private static final int STEPS = 60;

    /** Each step compares its own answer; all rows are compared after some steps, for a difference stays. */
    private static final int STEPS_A_LOOK = 5;

    private final List<Asked> asked = new ArrayList<>();
    private TestEngine engine;
    private SqlClient pool;
    private PostgresTables model;
    private final List<UUID> packets = new ArrayList<>();
    /** Tells the requests and users of a seed from those of others. */
    private long mark;

    private final Set<UUID> requests = new java.util.TreeSet<>();
    private final List<String> said = new ArrayList<>();
    private SplittableRandom random = new SplittableRandom(0);

    /**
     * A statement that Postgres works on.
     *
     * @param known only rows that begin with one of these ids are compared, since another seed's rows are there, too; null for all rows
     */
    private record Asked(@Nullable Set<UUID> known, String sql, Tuple of, Future<RowSet<Row>> answer) {}

    @BeforeEach
    void start(TestServers servers) {
        engine = TestEngine.start(servers, 1, Map.of());
        pool = PgBuilder.client()
                .with(new PoolOptions().setMaxSize(1))
                .connectingTo(PostgresAddress.of(servers.postgresAppUrl()).connectOptions())
                .using(engine.vertx())
                .build();
    }

    @AfterEach
    void stop() {
        engine.close();
    }

    static LongStream seeds() {
        long first = Long.getLong("seed", System.nanoTime());
        return LongStream.range(first, first + Integer.getInteger("seeds", 5));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void theModelAnswersAndChangesWhatPostgresDoes(long seed) {
        random = new SplittableRandom(seed);
        engine.deposit("alice", 100_000);
        for (int i = 0; i < 6; i++) {
            Duration lives = i % 2 == 0 ? Duration.ofSeconds(30) : Duration.ofHours(1);
            Packet sent = engine.send("alice", TestEngine.lucky(1_000, 3 + random.nextInt(4), lives));
            packets.add(sent.id().value());
        }
        engine.deposit("shop", 10_000);
        TestCampaigns campaigns = new TestCampaigns(engine);
        Campaign.View campaign =
                campaigns.create(TestCampaigns.limited(10_000, 4, 2, 2, 1).put("zone", "UTC"));
        for (int i = 0; i < 3; i++) {
            packets.add(
                    campaigns.open(campaign, USERS.get(i), "shoe-" + i / 2).id().value());
        }
        get(engine.engine().stopWriter());
        take();

        for (int i = 0; i < STEPS; i++) {
            step();
            if ((i + 1) % STEPS_A_LOOK > 0) {
                continue;
            }
            ask(ROWS, Tuple.tuple());
            packets.forEach(packet -> ask(PROGRESS, Tuple.of(packet)));
            for (PostgresTables.Shard shard : model.shards) {
                ask(Set.copyOf(packets), sql("packet.PacketShardLoader", "OPEN"), Tuple.of((short) shard.id));
                ask(
                        Set.copyOf(packets),
                        sql("packet.PacketShardLoader", "CLAIMS"),
                        Tuple.of((short) shard.id).addArrayOfUUID(new UUID[0]));
            }
            feeds();
            for (int shard : model.campaigns.keySet()) {
                UUID id = model.campaigns.get(shard).id;
                Set<UUID> known = Set.of(id);
                ask(known, sql("campaign.CampaignShardLoader", "OPEN"), Tuple.of((short) shard));
                ask(known, sql("campaign.CampaignShardLoader", "COUNTS"), Tuple.of((short) shard));
                ask(
                        known,
                        sql("campaign.CampaignOwnerTask", "CLOSE"),
                        Tuple.tuple().addArrayOfShort(new Short[] {(short) shard}));
                ask(sql("campaign.CampaignShardLoader", "OVER"), Tuple.tuple().addArrayOfUUID(new UUID[] {id}));
            }
            for (UUID packet : packets) {
                UUID[] ids = USERS.stream().map(user -> packet).toArray(UUID[]::new);
                ask(CLAIMS, Tuple.tuple().addArrayOfUUID(ids).addArrayOfString(USERS.toArray(String[]::new)));
            }
            compare();
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void theModelHoldsAndSettlesPlaysAsPostgresDoes(long seed) {
        random = new SplittableRandom(seed);
        TestDraws making = new TestDraws(engine);
        making.deposit("shop", TestEngine.CNY, 1_000);
        mark = random.nextLong() & 0xffff_ffffL;
        List<String> users = USERS.stream().map(user -> user + mark).toList();
        users.forEach(user -> making.deposit(user, TestEngine.CNY, user.startsWith("bob") ? 25 : 200));
        get(engine.engine().stopWriter()); // before it plans a period
        List<Draw> made = new ArrayList<>();
        for (int i = 0; i < DRAWS.size(); i++) {
            DrawDefinition definition = TestDraws.definition(DRAWS.get(i)
                    .replaceFirst(
                            "}$",
                            ", group: 'of-" + mark + "'"
                                    + (i % 2 == 0
                                            ? ", closesAt: '" + Instant.now().plusSeconds(30) + "'}"
                                            : "}")));
            made.add(making.create(definition));
        }
        take();
        users.forEach(user -> model.draws.deposit(user, user.startsWith("bob") ? 25 : 200));
        made.forEach(draw -> model.draws.add(draw.id().value(), draw.shard(), draw.definition(), draw.seed()));

        for (int i = 0; i < STEPS; i++) {
            stepOfDraws(made.get(random.nextInt(made.size())));
            if ((i + 1) % STEPS_A_LOOK > 0) {
                continue;
            }
            ask(ROWS, Tuple.tuple());
            for (Draw draw : made) {
                LOADED.forEach(sql -> ask(model.draws.draws.keySet(), sql, Tuple.of((short) draw.shard())));
                ask(
                        "select closes_at, closed_at from draw where id = $1",
                        Tuple.of(draw.id().value()));
            }
            Set<UUID> ids = model.draws.draws.keySet();
            Short[] all = model.shards.stream().map(shard -> (short) shard.id).toArray(Short[]::new);
            OWNED.forEach(sql -> ask(
                    ids,
                    sql,
                    sql.contains("$2")
                            ? Tuple.tuple().addArrayOfShort(all).addInteger(1_000)
                            : Tuple.tuple().addArrayOfShort(all)));
            ask(
                    requests,
                    sql("draw.HoldExpiry", "HELD_TOO_LONG"),
                    Tuple.tuple().addArrayOfShort(all).addLong(0L).addInteger(1_000));
            UUID[] each = requests.toArray(UUID[]::new);
            OF_REQUESTS.forEach(sql -> ask(sql, Tuple.tuple().addArrayOfUUID(each)));
            requests.forEach(request -> ask(sql("draw.PlayRequestStore", "HELD"), Tuple.of(request)));
            for (UUID draw : ids) {
                UUID[] draws = requests.stream().map(request -> draw).toArray(UUID[]::new);
                ask(
                        sql("draw.PlayRequestStore", "PLAYED_BEFORE"),
                        Tuple.tuple().addArrayOfUUID(each).addArrayOfUUID(draws));
            }
            compare();
            for (String user : users) {
                assertThat(model.draws.balance(user))
                        .as(() -> user + " after " + String.join("\n", said))
                        .isEqualTo(making.balance(user, TestEngine.CNY));
            }
        }
    }

    private void stepOfDraws(Draw draw) {
        UUID id = draw.id().value();
        switch (random.nextInt(16)) {
            case 0, 1, 2, 3 -> holds();
            case 14, 15 -> {
                UUID[] some = model.draws.draws.keySet().stream()
                        .filter(each -> random.nextInt(3) > 0)
                        .toArray(UUID[]::new);
                long gap = random.nextInt(3) == 0 ? 3_600_000 : 0;
                said.add("tell the feed of " + Arrays.toString(some) + " after " + gap);
                same(
                        sql("feed.DrawFeedTask", "TELL"),
                        Tuple.tuple().addArrayOfUUID(some).addLong(gap));
            }
            case 12 -> {
                List<UUID> all = model.draws.draws.values().stream()
                        .filter(each -> each.shard == draw.shard())
                        .map(each -> each.id)
                        .toList();
                setAside(draw.shard(), "draw", id, all.get(random.nextInt(all.size())), "play", "end");
            }
            case 13 -> bringBack(asideOr(List.copyOf(model.draws.draws.keySet()), id));
            case 4 -> {
                boolean isWhole =
                        draw.definition().schedule() == null ? random.nextInt(3) == 0 : random.nextInt(9) == 0;
                Integer period = isWhole ? null : Integer.valueOf(random.nextInt(3));
                said.add("end " + draw.id() + " " + period);
                same(
                        SETTLE_ENDS + undone(),
                        moves(draw.shard())
                                .addArrayOfUUID(new UUID[] {draw.id().value()})
                                .addArrayOfInteger(new Integer[] {period}));
            }
            case 5, 6 -> plan(draw);
            default -> plays(draw.shard());
        }
    }

    /** A request's id tells its draw and its user. */
    private UUID request() {
        int number = random.nextInt(24);
        UUID id = new UUID(number, mark);
        requests.add(id);
        return id;
    }

    private DrawTables.DrawRow drawOf(UUID request) {
        List<DrawTables.DrawRow> all = List.copyOf(model.draws.draws.values());
        return all.get((int) (request.getMostSignificantBits() % all.size()));
    }

    private String userOf(UUID request) {
        return USERS.get((int) (request.getMostSignificantBits() / 4 % USERS.size())) + mark;
    }

    private void holds() {
        Map<String, UUID> some = new TreeMap<>();
        for (int i = 0; i <= random.nextInt(3); i++) {
            UUID request = request();
            some.put(userOf(request), request);
        }
        List<UUID> ids = List.copyOf(some.values());
        List<DrawDefinition> definitions =
                ids.stream().map(id -> drawOf(id).definition).toList();
        said.add("hold " + ids);
        same(
                HOLD,
                Tuple.tuple()
                        .addArrayOfUUID(ids.toArray(UUID[]::new))
                        .addArrayOfUUID(ids.stream().map(id -> drawOf(id).id).toArray(UUID[]::new))
                        .addArrayOfString(ids.stream().map(this::userOf).toArray(String[]::new))
                        .addArrayOfShort(ids.stream()
                                .map(id -> (short) (random.nextInt(8) == 0 ? 1 : 2))
                                .toArray(Short[]::new))
                        .addArrayOfUUID(ids.stream()
                                .map(id -> new UUID(random.nextLong(), 8))
                                .toArray(UUID[]::new))
                        .addArrayOfLong(definitions.stream()
                                .map(each -> each.limits().total())
                                .toArray(Long[]::new))
                        .addArrayOfLong(definitions.stream()
                                .map(each -> each.limits().perDay())
                                .toArray(Long[]::new))
                        .addArrayOfLong(ids.stream()
                                .map(id -> 20_000L + random.nextInt(2))
                                .toArray(Long[]::new)));
    }

    private void plan(Draw draw) {
        if (draw.definition().schedule() == null) {
            return;
        }
        int period = random.nextInt(4);
        OffsetDateTime now = OffsetDateTime.now();
        Short[] prizes = {1, 1, 2, 2, 2};
        OffsetDateTime[] moments =
                IntStream.of(1, 2, 1, 3, 600).mapToObj(now::plusSeconds).toArray(OffsetDateTime[]::new);
        said.add("plan " + draw.id() + " " + period);
        same(
                "select plan_period($1, $2, $3, $4, $5, $6)",
                Tuple.of(draw.id().value(), period, now, now.plusSeconds(random.nextInt(2) * 600 - 300))
                        .addArrayOfShort(prizes)
                        .addArrayOfOffsetDateTime(moments));
    }

    /** Decided requests on one shard, most of them as the script decides. */
    private void plays(int shard) {
        List<UUID> ids = new ArrayList<>();
        for (int i = 0; i < 1 + random.nextInt(4); i++) {
            UUID id = request();
            if (drawOf(id).shard == shard) {
                ids.add(id);
            }
        }
        if (ids.isEmpty()) {
            return;
        }
        List<UUID> draws = ids.stream().map(id -> drawOf(id).id).distinct().toList();
        Map<UUID, Long> next = new HashMap<>();
        Integer[] inDraws = new Integer[ids.size()];
        UUID[] attempts = new UUID[ids.size()];
        OffsetDateTime[] ats = new OffsetDateTime[ids.size()];
        Long[] firsts = new Long[ids.size()];
        String[] counters = new String[ids.size()];
        Integer[] loadeds = new Integer[ids.size()];
        String[] reasons = new String[ids.size()];
        List<Integer> inRequests = new ArrayList<>();
        List<Short> parts = new ArrayList<>();
        List<Short> prizes = new ArrayList<>();
        List<Long> rounds = new ArrayList<>();
        List<Integer> periods = new ArrayList<>();
        List<Integer> releases = new ArrayList<>();
        for (int i = 0; i < ids.size(); i++) {
            DrawTables.DrawRow draw = drawOf(ids.get(i));
            DrawTables.RequestRow held = model.draws.requests.get(ids.get(i));
            inDraws[i] = draws.indexOf(draw.id) + 1;
            attempts[i] = held != null && random.nextInt(12) > 0 ? held.attempt : ids.get(i);
            ats[i] = OffsetDateTime.now().plusMinutes(random.nextInt(15) / 14 * 2);
            reasons[i] = draw.cost() > 0 && random.nextInt(4) == 0 ? "undecided" : null;
            boolean isScheduled = draw.definition.schedule() != null;
            int planned = draw.periods.isEmpty() ? -1 : draw.periods.lastKey();
            loadeds[i] = isScheduled ? Integer.valueOf(random.nextInt(4) > 0 ? planned : random.nextInt(5) - 1) : null;
            counters[i] =
                    reasons[i] == null && random.nextBoolean() ? random.nextInt(4) + ",20000," + random.nextInt(4) : "";
            long from = next.computeIfAbsent(draw.id, id -> (long) draw.plays.size());
            firsts[i] = reasons[i] != null ? 0 : from + random.nextInt(10) / 9;
            int plays = reasons[i] != null ? 0 : 1 + random.nextInt(2);
            next.put(draw.id, from + plays);
            for (int part = 0; part < plays; part++) {
                boolean takes = isScheduled && random.nextInt(4) > 0;
                inRequests.add(i + 1);
                parts.add((short) part);
                prizes.add((short) (takes ? 1 + random.nextInt(2) : 1 + random.nextInt(draw.prizes.size())));
                rounds.add(1L + random.nextInt(8) / 7);
                periods.add(takes ? Integer.valueOf(random.nextInt(4)) : null);
                releases.add(takes ? Integer.valueOf(1 + random.nextInt(3)) : null);
            }
        }
        said.add("plays " + ids + Arrays.toString(attempts) + Arrays.toString(firsts) + Arrays.toString(reasons)
                + inRequests + prizes + rounds + periods + releases);
        same(
                SETTLE_PLAYS + undone(),
                moves(shard)
                        .addArrayOfUUID(draws.toArray(UUID[]::new))
                        .addArrayOfInteger(inDraws)
                        .addArrayOfUUID(ids.toArray(UUID[]::new))
                        .addArrayOfString(ids.stream().map(this::userOf).toArray(String[]::new))
                        .addArrayOfUUID(attempts)
                        .addArrayOfOffsetDateTime(ats)
                        .addArrayOfLong(firsts)
                        .addArrayOfString(counters)
                        .addArrayOfInteger(loadeds)
                        .addArrayOfString(reasons)
                        .addArrayOfInteger(inRequests.toArray(Integer[]::new))
                        .addArrayOfShort(parts.toArray(Short[]::new))
                        .addArrayOfShort(prizes.toArray(Short[]::new))
                        .addArrayOfLong(rounds.toArray(Long[]::new))
                        .addArrayOfInteger(periods.toArray(Integer[]::new))
                        .addArrayOfInteger(releases.toArray(Integer[]::new)));
    }

    /** A statement of a class. */
    private static String sql(String of, String name) {
        try {
            var constant = Class.forName("dev.hongbao." + of).getDeclaredField(name);
            constant.setAccessible(true);
            return (String) constant.get(null);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
    }

    /** The model begins with Postgres' rows. */
    private void take() {
        List<Row> rows = list(ROWS, Tuple.tuple());
        model = new PostgresTables(
                rows.size(),
                () -> Duration.between(PostgresTables.BEGIN, Instant.now()).toNanos(),
                new PostgresTables.Moves() {});
        for (Row row : rows) {
            PostgresTables.Shard shard = model.shards.get(row.getInteger("id"));
            shard.epoch = row.getLong("epoch");
            shard.nonce = row.getString("nonce");
            shard.lastSeq = row.getLong("last_seq");
            shard.replid = row.getString("replid");
            shard.restored = row.getLong("restored");
            for (UUID unit : row.getArrayOfUUIDs("aside")) {
                model.aside.put(unit, aside(unit, shard.id)); // another seed's
            }
        }
        for (UUID packet : packets) {
            Row row = list(
                            "select p.shard, a.amounts, extract(epoch from p.expires_at - now())::bigint as lives,"
                                    + " o.campaign, o.product from packet as p join packet_amounts as a on a.packet = p.id"
                                    + " left join pool as o on o.packet = p.id where p.id = $1",
                            Tuple.of(packet))
                    .get(0);
            int shard = row.getInteger("shard");
            UUID campaign = row.getUUID("campaign");
            CampaignRow pays = campaign == null
                    ? null
                    : model.campaigns.computeIfAbsent(shard, first -> new CampaignRow(campaign, shard, 2, 2, 1));
            model.add(
                    packet,
                    shard,
                    row.getArrayOfLongs("amounts"),
                    row.getLong("lives") * 1000,
                    pays,
                    String.valueOf(row.getString("product")));
        }
    }

    private static PostgresTables.AsideRow aside(UUID unit, int shard) {
        return new PostgresTables.AsideRow(unit, "packet", shard, OffsetDateTime.now(), "", "", new ArrayList<>());
    }

    private List<Row> list(String sql, Tuple of) {
        List<Row> rows = new ArrayList<>();
        get(pool.preparedQuery(sql).execute(of)).forEach(rows::add);
        return rows;
    }

    private void step() {
        UUID packet = packets.get(random.nextInt(packets.size()));
        int shard = model.packets.get(packet).shard;
        switch (random.nextInt(11)) {
            case 10 -> {
                CampaignRow campaign = model.packets.get(packet).campaign;
                if (campaign != null && random.nextInt(4) == 0) {
                    said.add("end " + campaign);
                    same(PostgresTables.END_CAMPAIGN, Tuple.of(campaign.id));
                }
                said.add("tell the feed of " + packet);
                same("select feed_progress($1)", Tuple.tuple().addArrayOfUUID(new UUID[] {packet}));
            }
            case 8 -> setAside(shard, "packet", packet, sibling(shard), "claim", "claim");
            case 9 -> bringBack(asideOr(packets, packet));
            case 0 -> {
                PostgresTables.Shard row = model.shards.get(shard);
                said.add("draw a generation of " + shard);
                same(
                        "select draw_generation($1, $2, $3, $4, $5, $6, $7)",
                        Tuple.of((short) shard, row.epoch - random.nextInt(8) / 7, row.nonce)
                                .addLong(row.epoch + random.nextInt(3))
                                .addBoolean(random.nextInt(4) == 0)
                                .addString("n" + random.nextInt(1_000_000))
                                .addString("r" + random.nextInt(3)));
            }
            case 1 -> same(MOVE, moves(shard));
            case 2 -> {
                UUID other = sibling(shard);
                String[] endings = {ending(), ending()};
                String[] enders = {endings[0] == null ? null : "host", endings[1] == null ? null : "host"};
                said.add("close " + packet + " and " + other + " " + Arrays.toString(endings));
                same(
                        CLOSE,
                        moves(shard)
                                .addArrayOfUUID(new UUID[] {packet, other})
                                .addArrayOfString(endings)
                                .addArrayOfString(enders));
            }
            default -> claims(shard);
        }
    }

    /** The reads of the feeds' owner. Packets of other seeds are older. */
    private void feeds() {
        UUID[] all = packets.toArray(UUID[]::new);
        ask(sql("feed.FeedStore", "CLAIMED"), Tuple.tuple().addArrayOfUUID(all));
        UUID before = new UUID(
                packets.stream().mapToLong(UUID::getMostSignificantBits).min().orElseThrow() - 1, 0);
        for (PostgresTables.Shard shard : model.shards) {
            ask(
                    sql("feed.FeedStore", "OPEN"),
                    Tuple.tuple()
                            .addArrayOfShort(new Short[] {(short) shard.id})
                            .addArrayOfUUID(new UUID[] {before})
                            .addInteger(1_000));
        }
    }

    private @Nullable String ending() {
        return random.nextInt(6) == 0 ? "closed" : null;
    }

    /** A packet of this shard, or another one as an unknown packet may be. */
    private UUID sibling(int shard) {
        List<UUID> all = packets.stream()
                .filter(each -> model.packets.get(each).shard == shard)
                .toList();
        return all.get(random.nextInt(all.size()));
    }

    /** One of the units that is set aside; without any, the other one. */
    private UUID asideOr(List<UUID> units, UUID other) {
        return units.stream().filter(model.aside::containsKey).findAny().orElse(other);
    }

    private Tuple moves(int shard) {
        if (random.nextInt(12) == 0) { // as an operator replays
            return Tuple.tuple()
                    .addArrayOfShort(new Short[0])
                    .addArrayOfLong(new Long[0])
                    .addArrayOfString(new String[0])
                    .addArrayOfLong(new Long[0])
                    .addArrayOfLong(new Long[0]);
        }
        PostgresTables.Shard row = model.shards.get(shard);
        boolean isStale = random.nextInt(12) == 0;
        long from = row.lastSeq + (isStale ? 1 : 0);
        return Tuple.tuple()
                .addArrayOfShort(new Short[] {(short) shard})
                .addArrayOfLong(new Long[] {row.epoch})
                .addArrayOfString(new String[] {random.nextInt(20) == 0 ? "other" : row.nonce})
                .addArrayOfLong(new Long[] {from})
                .addArrayOfLong(new Long[] {from + 1 + random.nextInt(3)});
    }

    /** Moves a cursor past items of this unit and another one, which may be set aside or not. */
    private void setAside(int shard, String kind, UUID unit, UUID sibling, String verb, String otherVerb) {
        UUID other = random.nextBoolean() ? unit : sibling;
        boolean isMarked = random.nextInt(3) > 0;
        UUID[] units = isMarked ? new UUID[] {unit} : new UUID[0];
        String[] texts = isMarked ? new String[] {kind} : new String[0];
        String[] items = {unit + " 0 ann bob", other + " 1 .cat"};
        said.add("set aside " + Arrays.toString(units) + " and keep " + Arrays.toString(items));
        same(
                MOVE + ", lateral set_aside(settled_at, $6, $7, $8, $9, $10, $11, $12, $13)",
                moves(shard)
                        .addArrayOfUUID(units)
                        .addArrayOfString(texts)
                        .addArrayOfShort(isMarked ? new Short[] {(short) shard} : new Short[0])
                        .addArrayOfString(texts)
                        .addArrayOfString(texts)
                        .addArrayOfUUID(new UUID[] {unit, other})
                        .addArrayOfString(new String[] {verb, otherVerb})
                        .addArrayOfString(items));
    }

    private void bringBack(UUID unit) {
        said.add("bring back " + unit);
        same(sql("engine.QuarantineStore", "LOCK"), Tuple.of(unit));
        same("delete from quarantine where unit = $1 returning n, verb, item", Tuple.of(unit));
        String back = sql("engine.QuarantineStore", "BRING_BACK");
        SimulatedPostgres.Plan plan = model.plan(back, Tuple.of(unit), null, null);
        assertThat(plan.effect().apply(List.of()))
                .hasSize(get(pool.preparedQuery(back).execute(Tuple.of(unit))).rowCount());
    }

    /** Some settlements are trials. */
    private String undone() {
        return random.nextInt(6) == 0 ? ", lateral undo(settled_at)" : "";
    }

    private void claims(int shard) {
        List<UUID> some = new ArrayList<>(List.of(sibling(shard)));
        if (random.nextInt(3) == 0) {
            UUID other = random.nextInt(10) == 0 ? new UUID(7, 7) : sibling(shard);
            if (!some.contains(other)) {
                some.add(other);
            }
        }
        int count = 1 + random.nextInt(4);
        Integer[] places = new Integer[count];
        Integer[] slots = new Integer[count];
        String[] users = new String[count];
        Long[] amounts = new Long[count];
        int[] next = some.stream()
                .mapToInt(each -> model.packets.containsKey(each)
                        ? model.packets.get(each).claims.size()
                        : 0)
                .toArray();
        for (int i = 0; i < count; i++) {
            int place = random.nextInt(some.size());
            PostgresTables.PacketRow packet = model.packets.get(some.get(place));
            int slot = next[place]++ + (random.nextInt(8) == 0 ? random.nextInt(3) - 1 : 0);
            int size = packet == null ? 3 : packet.amounts.length;
            places[i] = place + 1;
            slots[i] = Math.max(0, Math.min(slot, size - 1));
            users[i] = USERS.get(random.nextInt(USERS.size()));
            amounts[i] = packet == null ? 1 : packet.amounts[slots[i]];
        }
        said.add("claims on " + some + " " + Arrays.toString(places) + Arrays.toString(slots) + Arrays.toString(users));
        same(
                (random.nextBoolean() ? SETTLE : SETTLE_BUT_VOID) + undone(),
                moves(shard)
                        .addArrayOfUUID(some.toArray(UUID[]::new))
                        .addArrayOfInteger(places)
                        .addArrayOfInteger(slots)
                        .addArrayOfString(users)
                        .addArrayOfLong(amounts));
    }

    private void same(String sql, Tuple of) {
        ask(sql, of);
        compare();
    }

    private void ask(String sql, Tuple of) {
        ask(null, sql, of);
    }

    private void ask(@Nullable Set<UUID> known, String sql, Tuple of) {
        asked.add(new Asked(known, sql, of, pool.preparedQuery(sql).execute(of)));
    }

    private void compare() {
        asked.forEach(this::compare);
        asked.clear();
    }

    /** A claim's refusal is one of two, by what Postgres meets first; both mean that it is void. */
    private void compare(Asked statement) {
        int first = statement.sql.contains("returning n,") ? 1 : 0; // numbers of kept items have gaps
        String expected;
        try {
            List<Row> rows = new ArrayList<>();
            get(statement.answer).forEach(rows::add);
            expected = rows.stream()
                    .filter(row -> statement.known == null || statement.known.contains(row.getUUID(0)))
                    .map(row -> texts(IntStream.range(first, row.size())
                            .mapToObj(row::getValue)
                            .toList()))
                    .map(List::toString)
                    .sorted()
                    .toList()
                    .toString();
        } catch (RuntimeException failed) {
            expected = refusal(failed);
        }
        String actual;
        try {
            SimulatedPostgres.Plan plan = model.plan(statement.sql, statement.of, null, null);
            actual = plan.effect().apply(plan.rows()).stream()
                    .map(row -> texts(new ArrayList<>(row.values()).subList(first, row.size()))
                            .toString())
                    .sorted()
                    .toList()
                    .toString();
        } catch (PgException refused) {
            actual = refusal(refused);
        }
        assertThat(actual)
                .as(() -> statement.sql + statement.of.deepToString() + " after " + String.join("\n", said))
                .isEqualTo(expected);
    }

    private static String refusal(Throwable failed) {
        for (Throwable each = failed; each != null; each = each.getCause()) {
            if (each instanceof PgException refused) {
                return Objects.equals(refused.getSqlState(), "23505") ? "HB002" : refused.getSqlState();
            }
        }
        throw new IllegalStateException(failed);
    }

    /** Without moments, and seeds: only whether there is one. */
    private static List<String> texts(List<?> values) {
        List<String> texts = new ArrayList<>();
        for (Object value : values) {
            texts.add(
                    value instanceof OffsetDateTime
                                    || value instanceof JsonObject
                                    || value instanceof String text && text.length() == 64
                            ? "there"
                            : value instanceof Object[] array
                                    ? Arrays.stream(array)
                                            .map(String::valueOf)
                                            .sorted()
                                            .toList()
                                            .toString()
                                    : value instanceof Number number
                                            ? Long.toString(number.longValue())
                                            : String.valueOf(value));
        }
        return texts;
    }
}
