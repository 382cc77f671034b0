package dev.hongbao.draw;

import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.DrawRules;
import dev.hongbao.draw.odds.Prize;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.engine.Generation;
import dev.hongbao.engine.KeyLoader;
import dev.hongbao.engine.ShardScript;
import dev.hongbao.engine.Shards;
import dev.hongbao.ledger.Idempotency;
import dev.hongbao.ledger.Ledger;
import dev.hongbao.ledger.Ledger.AccountKind;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Makes draws: one transaction for the draw, its prizes and codes, and the transfers of all awards from the maker's wallets into its
 * escrows. One instance per event loop.
 */
final class DrawCreator {
    private static final String INSERT_DRAW = """
        insert into draw
            (id, shard, owner, group_id, mode, definition, cost, hold, carry_over, opens_at, closes_at, seed, commitment)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        """;

    private static final String INSERT_PRIZES = """
        insert into prize (draw, n, name, amount, escrow, stock, announced)
        select $1, u.n, u.name, u.amount, u.escrow, u.stock, u.announced
        from unnest($2::smallint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::boolean[])
            as u(n, name, amount, escrow, stock, announced)
        """;

    private static final String INSERT_CODES = """
        insert into code (draw, prize, nth, code)
        select $1, $2, u.nth, u.code from unnest($3::text[]) with ordinality as u(code, nth)
        """;

    /** The missing amount of each wallet that holds too little. */
    private static final String MISSING = """
        select a.asset, u.amount - a.balance as missing
        from unnest($1::bigint[], $2::bigint[]) as u(wallet, amount) join account as a on a.id = u.wallet
        where a.balance < u.amount order by a.asset
        """;

    private static final String FUND = """
        insert into transfer (subject, debit, credit, amount, kind)
        select $1, u.debit, u.credit, u.amount, 'fund'
        from unnest($2::bigint[], $3::bigint[], $4::bigint[]) as u(debit, credit, amount)
        """;

    private final Shards shards;
    private final DrawCatalog catalog;
    private final KeyLoader loading;
    private final Clock clock;
    private final Idempotency idempotency;
    private final SecureRandom random = new SecureRandom();

    DrawCreator(Pool pool, Shards shards, DrawCatalog catalog, KeyLoader loading, Clock clock) {
        this.shards = shards;
        this.catalog = catalog;
        this.loading = loading;
        this.clock = clock;
        this.idempotency = new Idempotency(pool);
    }

    /** All that a request asks for, in the text of the commitment, which never changes, and with the codes that it leaves out. */
    private static String fingerprint(DrawDefinition wish) {
        JsonArray codes = new JsonArray();
        wish.allPrizes().forEach(prize -> codes.add(new JsonArray(prize.award().codes())));
        return Seed.definitionText(wish) + codes.encode();
    }

    Future<Draw> create(Caller caller, DrawDefinition wish, IdempotencyKey key) {
        if (caller.role() != Role.SERVICE) {
            return Refusal.NOT_ELIGIBLE.failure(Reason.ROLE, Text.of("draw.only-backend"));
        }
        Instant now = clock.instant(); // read before the row's time, so that a draw without an opening is open at once
        DrawId id = DrawId.create();
        var scope = Idempotency.Scope.of(caller, "draw", key, fingerprint(wish));
        return idempotency
                .once(
                        scope,
                        tx -> opened(wish, now)
                                .compose(definition -> Ledger.command(tx, id.value(), scope)
                                        .compose(noted -> insert(tx, id, caller.user(), definition))
                                        .map(generation -> new Idempotency.Done<>(id.value(), generation))))
                .compose(made -> catalog.find(new DrawId(made.subject())).compose(draw -> {
                    if (draw == null) {
                        return Refusal.NOT_FOUND.failure(Text.of("draw.not-readable", made.subject()));
                    }
                    Generation generation = made.fresh();
                    return generation == null
                            ? Future.succeededFuture(draw)
                            : load(draw, generation).map(draw);
                }));
    }

    /** The definition with its opening fixed. For new draws only: a repeated command gets its first answer, also after the draw's end. */
    private static Future<DrawDefinition> opened(DrawDefinition wish, Instant now) {
        if (!wish.closesAt().isAfter(now)) {
            return Future.failedFuture(
                    InvalidInputException.of(List.of(new FieldFault("#/closesAt", Text.of("time.after-now")))));
        }
        DrawDefinition definition = wish.opensAt() == null ? wish.openedAt(now) : wish;
        try {
            definition.require(); // again: the number of periods is known now
            definition.requireOfNew();
        } catch (InvalidInputException faults) {
            return Future.failedFuture(faults);
        }
        return Future.succeededFuture(definition);
    }

    private Future<Void> load(Draw draw, Generation generation) {
        String key = DrawKeys.hash(generation, draw.id());
        return loading.load(generation, key, loadCall(draw)).mapEmpty();
    }

    /** The call of {@code draw.lua}. Idempotent. Returns whether the draw is new in Redis. */
    private static ShardScript.Call<Boolean> loadCall(Draw draw) {
        boolean hasSchedule = draw.definition().mode() == DrawDefinition.Mode.SCHEDULE;
        return new ShardScript.Call<>(
                "draw",
                hasSchedule ? 2 : 1,
                (generation, request) -> {
                    DrawRules rules = draw.definition().rules();
                    request.arg(DrawKeys.hash(generation, draw.id()));
                    if (hasSchedule) {
                        request.arg(DrawKeys.schedule(generation, draw.id()));
                    }
                    request.arg(Buffer.buffer(DrawState.rules(rules))).arg(Buffer.buffer(DrawState.first(rules)));
                },
                (generation, reply) -> ShardScript.Reply.of(reply.toInteger() == 1));
    }

    /** Returns the shard's generation, locked until the transaction ends. */
    private Future<Generation> insert(SqlConnection tx, DrawId id, UserId owner, DrawDefinition definition) {
        int shard = shards.shardFor(id.value());
        DrawDefinition.Cost cost = definition.cost();
        Map<Asset, Long> awards = awards(definition);
        Seed seed = Seed.drawn(random);
        return shards.hold(tx, shard)
                .compose(generation -> accounts(tx, AccountKind.ESCROW, id.toString(), awards.keySet())
                        .compose(escrows -> hold(tx, id, cost)
                                .compose(hold -> tx.preparedQuery(INSERT_DRAW)
                                        .execute(row(id, shard, owner, definition, hold)
                                                .addBuffer(Buffer.buffer(seed.toBytes()))
                                                .addBuffer(Buffer.buffer(HexFormat.of()
                                                        .parseHex(seed.commitment(id.value(), definition))))))
                                .compose(drawn ->
                                        tx.preparedQuery(INSERT_PRIZES).execute(prizes(id, definition, escrows)))
                                .compose(prized -> codes(tx, id, definition))
                                .compose(coded -> fund(tx, id, owner, awards, escrows)))
                        .map(generation));
    }

    private static Future<@Nullable Long> hold(SqlConnection tx, DrawId id, DrawDefinition.@Nullable Cost cost) {
        return cost == null
                ? Future.succeededFuture(null)
                : Ledger.account(tx, AccountKind.HOLD, id.toString(), cost.asset())
                        .map(account -> account);
    }

    private static Tuple row(DrawId id, int shard, UserId owner, DrawDefinition definition, @Nullable Long hold) {
        return Tuple.tuple()
                .addUUID(id.value())
                .addShort((short) shard)
                .addString(owner.value())
                .addString(
                        definition.group() == null ? null : definition.group().value())
                .addString(definition.mode().wireName())
                .addJsonObject(new JsonObject(definition.stored()))
                .addLong(definition.cost() == null ? 0 : definition.cost().amount())
                .addLong(hold)
                .addBoolean(
                        definition.schedule() == null || definition.schedule().carryOver())
                .addOffsetDateTime(definition.opening().atOffset(ZoneOffset.UTC))
                .addOffsetDateTime(definition.closesAt().atOffset(ZoneOffset.UTC));
    }

    private static Tuple prizes(DrawId id, DrawDefinition definition, Map<Asset, Long> escrows) {
        List<Prize> prizes = definition.allPrizes();
        int size = prizes.size();
        return Tuple.tuple()
                .addUUID(id.value())
                .addArrayOfShort(IntStream.rangeClosed(1, size)
                        .mapToObj(number -> (short) number)
                        .toArray(Short[]::new))
                .addArrayOfString(Rows.texts(prizes, Prize::name))
                .addArrayOfLong(
                        Rows.column(prizes, Long[]::new, prize -> prize.award().amount()))
                .addArrayOfLong(Rows.column(
                        prizes, Long[]::new, prize -> escrows.get(prize.award().asset())))
                .addArrayOfLong(Rows.column(prizes, Long[]::new, Prize::stock))
                .addArrayOfBoolean(IntStream.rangeClosed(1, size)
                        .mapToObj(definition::isAnnounced)
                        .toArray(Boolean[]::new));
    }

    private static Future<Void> codes(SqlConnection tx, DrawId id, DrawDefinition definition) {
        Future<Void> done = Future.succeededFuture();
        List<Prize> prizes = definition.allPrizes();
        for (int i = 0; i < prizes.size(); i++) {
            String[] codes = prizes.get(i).award().codes().toArray(String[]::new);
            short number = (short) (i + 1);
            if (codes.length > 0) {
                done = done.compose(before -> tx.preparedQuery(INSERT_CODES)
                        .execute(Tuple.tuple()
                                .addUUID(id.value())
                                .addShort(number)
                                .addArrayOfString(codes))
                        .mapEmpty());
            }
        }
        return done;
    }

    /** The total of all awards, by asset, minor units. */
    private static Map<Asset, Long> awards(DrawDefinition definition) {
        Map<Asset, Long> sums = new TreeMap<>(Comparator.comparing(Asset::code));
        for (Prize prize : definition.allPrizes()) {
            Asset asset = prize.award().asset();
            if (asset != null) {
                long all = Math.multiplyExact(
                        Objects.requireNonNull(prize.stock()), prize.award().amount());
                sums.merge(asset, all, Math::addExact);
            }
        }
        return sums;
    }

    private static Future<Map<Asset, Long>> accounts(
            SqlConnection tx, AccountKind kind, String owner, Iterable<Asset> assets) {
        Map<Asset, Long> accounts = new HashMap<>();
        Future<Void> done = Future.succeededFuture();
        for (Asset asset : assets) {
            done = done.compose(before -> Ledger.account(tx, kind, owner, asset))
                    .map(account -> {
                        accounts.put(asset, account);
                        return null;
                    });
        }
        return done.map(accounts);
    }

    /**
     * Moves the awards into the draw's escrows. Refused with FROZEN, or with INSUFFICIENT_FUNDS, which names the missing amount of each
     * asset.
     */
    private static Future<Void> fund(
            SqlConnection tx, DrawId id, UserId owner, Map<Asset, Long> awards, Map<Asset, Long> escrows) {
        if (awards.isEmpty()) {
            return Future.succeededFuture();
        }
        return accounts(tx, AccountKind.WALLET, owner.value(), awards.keySet()).compose(wallets -> {
            List<Long> debits = new ArrayList<>();
            List<Long> credits = new ArrayList<>();
            List<Long> amounts = new ArrayList<>();
            awards.forEach((asset, amount) -> {
                debits.add(wallets.get(asset));
                credits.add(escrows.get(asset));
                amounts.add(amount);
            });
            UUID draw = id.value();
            Long[] payers = debits.toArray(Long[]::new);
            Long[] sums = amounts.toArray(Long[]::new);
            return Ledger.lockToPay(tx, owner, debits)
                    .compose(locked -> tx.preparedQuery(MISSING)
                            .execute(Tuple.tuple().addArrayOfLong(payers).addArrayOfLong(sums)))
                    .compose(missing -> missing.rowCount() > 0
                            ? Future.failedFuture(tooPoor(owner, missing))
                            : tx.preparedQuery(FUND)
                                    .execute(Tuple.tuple()
                                            .addUUID(draw)
                                            .addArrayOfLong(payers)
                                            .addArrayOfLong(credits.toArray(Long[]::new))
                                            .addArrayOfLong(sums)))
                    .<Void>mapEmpty()
                    .recover(fault -> Future.failedFuture(Ledger.refusal(fault)));
        });
    }

    /** The refusal with the missing amount of each asset. */
    private static RefusedException tooPoor(UserId owner, RowSet<Row> missing) {
        List<String> sums = new ArrayList<>();
        missing.forEach(row -> sums.add(row.getLong("missing") + " " + row.getString("asset")));
        return new RefusedException(
                Refusal.INSUFFICIENT_FUNDS, Text.of("draw.wallets-lack", owner.value(), String.join(", ", sums)));
    }
}
