package dev.hongbao.simulation;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Packet;
import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
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
            "select settled_at, closed, closed_shards from settle_closes($1, $2, $3, $4, $5, $6, $7, $8)";
    private static final String MOVE =
            "select settled_at from (select move_cursors($1, $2, $3, $4, $5), now() as settled_at) as moved";
    private static final String ROWS = "select id, epoch, nonce, last_seq, replid, restored,"
            + " array(select q.id from quarantine_unit as q where q.shard = shard.id) as aside from shard order by id";
    private static final String PROGRESS =
            "select amount, due, closed_at, refund, ending, held, claimed_count, seed from packet_state where id = $1";
    private static final String CLAIMS = "select packet, user_id, slot, amount, asset, at from settled_claims($1, $2)";
    private static final List<String> USERS = List.of("ann", "bob", "cat", "dan", "eve", "flo");
    private static final int STEPS = 60;

    private TestEngine engine;
    private Pool pool;
    private PostgresTables model;
    private final List<UUID> packets = new ArrayList<>();
    private final List<String> said = new ArrayList<>();
    private SplittableRandom random = new SplittableRandom(0);

    @BeforeEach
    void start(TestServers servers) {
        engine = TestEngine.start(servers, 1, Map.of());
        pool = PgBuilder.pool()
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
        get(engine.engine().stopWriter());
        take();

        for (int i = 0; i < STEPS; i++) {
            step();
            same(ROWS, Tuple.tuple());
            packets.forEach(packet -> same(PROGRESS, Tuple.of(packet)));
            for (UUID packet : packets) {
                UUID[] ids = USERS.stream().map(user -> packet).toArray(UUID[]::new);
                same(CLAIMS, Tuple.tuple().addArrayOfUUID(ids).addArrayOfString(USERS.toArray(String[]::new)));
            }
        }
    }

    /** The model begins with Postgres' rows. */
    private void take() {
        Instant zero = Instant.parse("2026-01-01T00:00:00Z");
        List<Row> rows = list(ROWS, Tuple.tuple());
        model = new PostgresTables(
                rows.size(), () -> Duration.between(zero, Instant.now()).toNanos(), new PostgresTables.Moves() {
                    @Override
                    public void moved(int shard, long epoch, long from, long to) {}

                    @Override
                    public void voided(int claims) {}
                });
        for (Row row : rows) {
            PostgresTables.Shard shard = model.shards.get(row.getInteger("id"));
            shard.epoch = row.getLong("epoch");
            shard.nonce = row.getString("nonce");
            shard.lastSeq = row.getLong("last_seq");
            shard.replid = row.getString("replid");
            shard.restored = row.getLong("restored");
        }
        for (UUID packet : packets) {
            Row row = list(
                            "select p.shard, a.amounts, extract(epoch from p.expires_at - now())::bigint as lives"
                                    + " from packet as p join packet_amounts as a on a.packet = p.id where p.id = $1",
                            Tuple.of(packet))
                    .get(0);
            model.add(packet, row.getInteger("shard"), row.getArrayOfLongs("amounts"), row.getLong("lives") * 1000);
        }
    }

    private List<Row> list(String sql, Tuple of) {
        List<Row> rows = new ArrayList<>();
        get(pool.preparedQuery(sql).execute(of)).forEach(rows::add);
        return rows;
    }

    private void step() {
        UUID packet = packets.get(random.nextInt(packets.size()));
        int shard = model.packets.get(packet).shard;
        switch (random.nextInt(8)) {
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

    private Tuple moves(int shard) {
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
                random.nextBoolean() ? SETTLE : SETTLE_BUT_VOID,
                moves(shard)
                        .addArrayOfUUID(some.toArray(UUID[]::new))
                        .addArrayOfInteger(places)
                        .addArrayOfInteger(slots)
                        .addArrayOfString(users)
                        .addArrayOfLong(amounts));
    }

    /** A claim's refusal is one of two, by what Postgres meets first; both mean that it is void. */
    private void same(String sql, Tuple of) {
        String expected;
        try {
            expected = list(sql, of).stream()
                    .map(row -> texts(IntStream.range(0, row.size())
                            .mapToObj(row::getValue)
                            .toList()))
                    .toList()
                    .toString();
        } catch (RuntimeException failed) {
            expected = refusal(failed);
        }
        String actual;
        try {
            SimulatedPostgres.Plan plan = model.plan(sql, of, null, null);
            actual = plan.effect().apply(plan.rows()).stream()
                    .map(row -> texts(new ArrayList<>(row.values())))
                    .toList()
                    .toString();
        } catch (PgException refused) {
            actual = refusal(refused);
        }
        assertThat(actual)
                .as(() -> sql + of.deepToString() + " after " + String.join("\n", said))
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
                    value instanceof OffsetDateTime || value instanceof String text && text.length() == 64
                            ? "there"
                            : value instanceof Object[] array
                                    ? Arrays.toString(array)
                                    : value instanceof Number number
                                            ? Long.toString(number.longValue())
                                            : String.valueOf(value));
        }
        return texts;
    }
}
