package dev.hongbao.ledger;

import dev.hongbao.config.HongbaoConfig.DeclaredAsset;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.SharedQueries;
import dev.hongbao.values.Asset;
import dev.hongbao.values.InvalidInputException.FieldFault;
import dev.hongbao.values.Named;
import dev.hongbao.values.Page;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The declared assets in this server's memory, 1,000 at most. Its own declarations show at once, others' within a second. It refuses
 * undeclared assets early. Postgres enforces the same rule for accounts, and the caps for sends. Thread-safe.
 */
public final class Assets {
    private static final Logger LOG = LoggerFactory.getLogger(Assets.class);

    private static final long LOOK_MILLIS = 1_000;

    private static final String DECLARE = """
        insert into asset (code, scale, symbol)
        select code, scale, symbol from unnest($1::text[], $2::smallint[], $3::text[]) as c(code, scale, symbol) order by code
        on conflict do nothing
        """;

    private static final String SELECT =
            "select code, scale, symbol, senders, packet_cap, share_cap, day_cap, declared_at from asset";

    /** Assets named in a refusal. */
    private static final int NAMED = 10;

    private final Pool pool;
    private final SharedQueries<Boolean, Map<Asset, Terms>> looks = new SharedQueries<>();
    private volatile Map<Asset, Terms> known = Map.of();

    public Assets(Pool pool) {
        this.pool = pool;
    }

    /**
     * The result of a declaration.
     *
     * @param fresh whether the asset was unknown before
     */
    public record Declared(Terms terms, boolean fresh) {}

    /**
     * Declares the configured assets that are undeclared, warns of those with another scale, reads all, and reads again every second.
     * Once per Vert.x instance.
     */
    public Future<Void> start(Vertx vertx, List<DeclaredAsset> configured) {
        String[] codes = configured.stream().map(DeclaredAsset::code).toArray(String[]::new);
        Short[] scales = configured.stream().map(each -> (short) each.scale()).toArray(Short[]::new);
        String[] symbols = configured.stream().map(DeclaredAsset::symbol).toArray(String[]::new);
        return pool.preparedQuery(DECLARE)
                .execute(Tuple.tuple()
                        .addArrayOfString(codes)
                        .addArrayOfShort(scales)
                        .addArrayOfString(symbols))
                .compose(done -> look())
                .onSuccess(all -> {
                    configured.forEach(each -> warnIfScaleDiffers(each, all));
                    vertx.setPeriodic(LOOK_MILLIS, second -> look());
                })
                .mapEmpty();
    }

    private static void warnIfScaleDiffers(DeclaredAsset configured, Map<Asset, Terms> all) {
        Terms terms = all.get(new Asset(configured.code()));
        if (terms != null && terms.scale() != configured.scale()) {
            LOG.warn(
                    "assets.declared: {} keeps its {} digits, and does not get {}",
                    configured.code(),
                    terms.scale(),
                    configured.scale());
        }
    }

    private synchronized void keep(Terms terms) {
        Map<Asset, Terms> more = new HashMap<>(known);
        more.put(terms.asset(), terms);
        known = Map.copyOf(more);
    }

    private Future<Map<Asset, Terms>> look() {
        return looks.ask(
                true,
                () -> pool.query(SELECT)
                        .execute()
                        .map(rows -> known = Rows.list(rows, Assets::terms).stream()
                                .collect(Collectors.toUnmodifiableMap(Terms::asset, Function.identity()))));
    }

    /** An asset's terms, at most a second old; null when this server does not know it. Never waits. */
    public @Nullable Terms cached(Asset asset) {
        return known.get(asset);
    }

    /**
     * Refused with UNKNOWN_ASSET for an undeclared asset; the refusal names declared ones. Waits only when this server does not know the
     * asset.
     */
    public Future<Void> require(Asset asset) {
        return known.containsKey(asset)
                ? Future.succeededFuture()
                : look().compose(all -> all.containsKey(asset)
                        ? Future.succeededFuture()
                        : Future.failedFuture(unknown(asset, List.of())));
    }

    /** The undeclared ones of these assets. Waits only when this server does not know one. */
    Future<Set<Asset>> undeclared(Set<Asset> assets) {
        return known.keySet().containsAll(assets)
                ? Future.succeededFuture(Set.of())
                : look().map(all -> assets.stream()
                        .filter(asset -> !all.containsKey(asset))
                        .collect(Collectors.toUnmodifiableSet()));
    }

    /** The refusal of an undeclared asset. */
    RefusedException unknown(Asset asset, List<FieldFault> places) {
        List<String> codes = known.keySet().stream().map(Asset::code).sorted().toList();
        String named = String.join(", ", codes.subList(0, Math.min(NAMED, codes.size())));
        Text detail = codes.isEmpty()
                ? Text.of("asset.none-here", asset)
                : codes.size() <= NAMED
                        ? Text.of("asset.those-here", asset, named)
                        : Text.of("asset.more-here", asset, named, codes.size() - NAMED);
        return new RefusedException(Refusal.UNKNOWN_ASSET, detail, places);
    }

    /**
     * Declares an asset, or changes its symbol, caps and senders. Idempotent.
     *
     * @param wish its {@code declaredAt} is ignored
     * @return refused with ASSET_DIFFERS
     */
    public Future<Declared> declare(Terms wish) {
        return pool.preparedQuery("select declare_asset($1, $2, $3, $4, $5, $6, $7)")
                .execute(Tuple.tuple()
                        .addString(wish.asset().code())
                        .addShort((short) wish.scale())
                        .addString(wish.symbol())
                        .addString(wish.senders().wireName())
                        .addLong(wish.caps().packet())
                        .addLong(wish.caps().share())
                        .addLong(wish.caps().senderDay()))
                .compose(rows -> {
                    String verdict = rows.iterator().next().getString(0);
                    return switch (verdict) {
                        case "declared", "known" ->
                            find(wish.asset()).map(terms -> {
                                keep(terms);
                                return new Declared(terms, verdict.equals("declared"));
                            });
                        case "scale" -> Refusal.ASSET_DIFFERS.failure(Reason.SCALE, Text.of("asset.scale-stays"));
                        case "day" -> Refusal.ASSET_DIFFERS.failure(Reason.DAY, Text.of("asset.cap-stays"));
                        default -> Refusal.ASSET_DIFFERS.failure(Reason.FULL, Text.of("asset.too-many"));
                    };
                });
    }

    /** An asset's current terms; refused with NOT_FOUND. */
    public Future<Terms> find(Asset asset) {
        return pool.preparedQuery(SELECT + " where code = $1")
                .execute(Tuple.of(asset.code()))
                .compose(rows -> {
                    Terms terms = Rows.first(rows, Assets::terms);
                    return terms == null
                            ? Refusal.NOT_FOUND.failure(Text.of("asset.not-here", asset))
                            : Future.succeededFuture(terms);
                });
    }

    /**
     * All assets by code.
     *
     * @param cursor a page's {@code next}; null for the first page
     */
    public Future<Page<Terms>> list(@Nullable String cursor, int limit) {
        return pool.preparedQuery(SELECT + " where code > $1 order by code limit $2")
                .execute(Tuple.of(cursor == null ? "" : cursor, limit + 1))
                .map(rows -> Page.of(
                        Rows.list(rows, Assets::terms),
                        limit,
                        terms -> terms.asset().code()));
    }

    private static Terms terms(Row row) {
        Instant declaredAt = Rows.instant(row, "declared_at");
        return new Terms(
                new Asset(row.getString("code")),
                row.getShort("scale"),
                row.getString("symbol"),
                Terms.Senders.of(row.getString("senders")),
                new Terms.Caps(row.getLong("packet_cap"), row.getLong("share_cap"), row.getLong("day_cap")),
                declaredAt);
    }

    /**
     * A declared asset.
     *
     * @param scale digits behind the point, 0 to 9: 2 for CNY, whose minor unit is the fen. It never changes
     * @param symbol 1 to 8 characters for people: {@code ¥}
     * @param senders who may put it into packets
     */
    public record Terms(Asset asset, int scale, String symbol, Senders senders, Caps caps, Instant declaredAt) {

        /** The users who may put an asset into their own packets. */
        public enum Senders implements Named {
            /** Every member of a group. */
            EVERYBODY,
            /** The host application's backend. */
            SERVICE;

            /** @throws IllegalArgumentException for an unknown word */
            public static Senders of(String wireName) {
                return valueOf(wireName.toUpperCase(Locale.ROOT));
            }
        }

        /**
         * The upper limits of amounts, minor units; null for no cap.
         *
         * @param packet for one packet's amount
         * @param share for one share
         * @param senderDay for all packets of one sender on a day in UTC
         */
        public record Caps(
                @Nullable Long packet,
                @Nullable Long share,
                @Nullable Long senderDay) {
            public static final Caps NONE = new Caps(null, null, null);
        }
    }
}
