package dev.hongbao.campaign;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;

import com.github.benmanes.caffeine.cache.Caffeine;
import dev.hongbao.draw.odds.Seed;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.packet.Claim;
import dev.hongbao.store.postgres.RowCache;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Transactions;
import dev.hongbao.values.Asset;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.Members;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.Page;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Rains in Postgres. The fixed facts are cached. Thread-safe. */
final class RainCatalog extends RowCache<CampaignId, Rain> {
    /** About 10 KB for a rain with many groups, usually 2 KB. */
    private static final int MAX_RAINS = 1_000;

    private static final String FIND = """
        select c.id, c.shard, c.sponsor, c.definition, encode(r.commitment, 'hex') as commitment
        from rain as r join campaign as c on c.id = r.id where r.id = any ($1)
        """;

    private static final String STATUS = """
        case when r.ended then 'ended' when c.ends_at <= now() then 'ending'
             when r.starts_at > now() then 'planned' else 'falling' end
        """;

    private static final String VIEW = """
        select c.id, c.shard, c.sponsor, c.definition, encode(r.commitment, 'hex') as commitment, c.ends_at, r.cancelled_at,
               c.returned, coalesce(s.caught, 0) as caught, coalesce(s.amount, 0) as amount,
               %s as status,
               -- The seed of an unfinished rain never leaves Postgres.
               case when r.ended then encode(r.seed, 'hex') end as seed
        from rain as r join campaign as c on c.id = r.id
        -- No catch precedes the start, so planned rains need no count.
        left join lateral (select * from rain_catches(r.id) where r.starts_at <= now()) as s on true
        """.formatted(STATUS);

    private static final String ALL =
            "select c.id from rain as r join campaign as c on c.id = r.id where c.kind = 'rain'";

    private static final String CURRENT = VIEW + """
        where not r.ended and (r.public or $1 = any (r.groups) or r.channel = $1) order by r.starts_at, r.id limit $2
        """;

    private static final String FALLEN = """
        select p.id, p.opens_at, p.amount, p.closed_at is not null or p.expires_at <= now() as over
        from rain as r join pool as o on o.campaign = r.id join packet as p on p.id = o.packet
        where r.id = $1 and has_fallen(p.opens_at, r.cancelled_at) and coalesce(p.closed_at >= p.opens_at, true)
        order by p.opens_at, p.id
        """;

    private static final String CAUGHT = """
        select o.campaign, t.subject, t.slot, t.amount, w.asset, t.at
        from account as w
        join pool as o on o.campaign = any ($1)
        join transfer as t on t.credit = w.id and t.subject = o.packet and t.slot is not null
        where w.owner = $2 and w.kind = 'wallet'
        order by t.id
        """;

    private static final String INSERT = """
        insert into rain (id, channel, public, groups, starts_at, last_at, ends_at, drops, seed, commitment)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        """;

    private final Pool pool;
    private final Quarantine quarantine;

    /** @param quarantine notes rains that this server cannot read */
    public RainCatalog(Pool pool, Quarantine quarantine) {
        super(
                Caffeine.newBuilder()
                        .maximumSize(MAX_RAINS)
                        .executor(Runnable::run)
                        .build(),
                Rain::id);
        this.pool = pool;
        this.quarantine = quarantine;
    }

    @Override
    protected Future<List<Rain>> read(Collection<CampaignId> ids) {
        return pool.preparedQuery(FIND)
                .execute(Tuple.tuple().addArrayOfUUID(uuids(ids)))
                .map(rows -> readable(rows, RainCatalog::rain));
    }

    /** The rain; null for an unknown one. Fails as set aside for a rain that this server cannot read; {@link #findAll} leaves it out. */
    @Override
    public Future<@Nullable Rain> find(CampaignId id) {
        return super.find(id).map(rain -> CampaignCatalog.orSetAside(quarantine, id, rain));
    }

    private <T> List<T> readable(Iterable<Row> rows, Function<Row, T> read) {
        return CampaignCatalog.readable(quarantine, "rain", rows, read);
    }

    /** The audience of a group; it never changes. Completed at once for a group that is no channel of a rain. */
    public Future<Members> members(GroupId group) {
        UUID id = group.rain();
        if (id == null) {
            return Future.succeededFuture(Members.of(group));
        }
        return find(new CampaignId(id))
                .map(rain -> rain == null || !rain.channel().equals(group) ? Members.of(group) : rain.members());
    }

    /** The current state of a rain, without its drops; null for an unknown one. Fails as {@link #find}. */
    Future<Rain.@Nullable View> view(CampaignId id) {
        return pool.preparedQuery(VIEW + "where r.id = $1")
                .execute(Tuple.of(id.value()))
                .map(rows -> readable(rows, RainCatalog::view))
                .map(views -> CampaignCatalog.orSetAside(quarantine, id, views.isEmpty() ? null : views.get(0)));
    }

    /**
     * Rains older than a given one, without their drops, newest first.
     *
     * @param sponsor null for all
     * @param status null for all
     */
    Future<Page<Rain.View>> list(
            @Nullable UserId sponsor, Rain.View.@Nullable Status status, CampaignId before, int limit) {
        String name = status == null ? null : status.wireName();
        return CampaignCatalog.list(pool, VIEW, ALL, STATUS, sponsor, name, before, limit)
                .map(page -> new Page<>(readable(page.items(), RainCatalog::view), page.next()));
    }

    /** The unfinished rains that were announced in a group, and the public ones: earliest first, without their drops. */
    Future<List<Rain.View>> current(GroupId group, int limit) {
        return pool.preparedQuery(CURRENT)
                .execute(Tuple.of(group.value(), limit))
                .map(rows -> readable(rows, RainCatalog::view));
    }

    /** The fallen drops, in the order of their moments. */
    Future<List<Rain.View.Drop>> fallen(CampaignId id) {
        return pool.preparedQuery(FALLEN)
                .execute(Tuple.of(id.value()))
                .map(rows -> rows.stream()
                        .map(row -> new Rain.View.Drop(
                                new PacketId(row.getUUID("id")),
                                Rows.instant(row, "opens_at"),
                                row.getLong("amount"),
                                row.getBoolean("over")))
                        .toList());
    }

    /** The user's settled catches per rain. Rains without catches are absent. */
    Future<Map<CampaignId, List<Claim>>> caught(Collection<CampaignId> ids, UserId user) {
        return pool.preparedQuery(CAUGHT)
                .execute(Tuple.tuple().addArrayOfUUID(uuids(ids)).addString(user.value()))
                .map(rows -> rows.stream()
                        .collect(groupingBy(
                                row -> new CampaignId(row.getUUID("campaign")),
                                mapping(row -> claim(row, user), toList()))));
    }

    private static Claim claim(Row row, UserId user) {
        return new Claim(
                new PacketId(row.getUUID("subject")),
                user,
                row.getInteger("slot"),
                row.getLong("amount"),
                new Asset(row.getString("asset")),
                Rows.instant(row, "at"));
    }

    /** Cancels the rain unless it is over. Idempotent. */
    Future<Void> cancel(CampaignId id) {
        return Transactions.statement(() -> pool.preparedQuery("select cancel_rain($1)")
                .execute(Tuple.of(id.value()))
                .mapEmpty());
    }

    /** Whether a moment is after the transaction's start. A drop must not open before it is sent. */
    static Future<Boolean> isAhead(SqlConnection tx, Instant moment) {
        return tx.preparedQuery("select $1 > now()")
                .execute(Tuple.of(Rows.time(moment)))
                .map(rows -> rows.iterator().next().getBoolean(0));
    }

    /** Writes the rain's own row beside its campaign's, within a transaction. */
    static Future<Void> insert(SqlConnection tx, Rain rain, Seed seed) {
        Rain.Definition.Fall fall = rain.definition().fall();
        return tx.preparedQuery(INSERT)
                .execute(Tuple.tuple()
                        .addUUID(rain.id().value())
                        .addString(rain.channel().value())
                        .addBoolean(rain.definition().members().everyone())
                        .addArrayOfString(rain.definition().members().groups().stream()
                                .map(group -> group.value())
                                .sorted()
                                .toArray(String[]::new))
                        .addOffsetDateTime(Rows.time(fall.startsAt()))
                        .addOffsetDateTime(Rows.time(fall.lastAt()))
                        .addOffsetDateTime(Rows.time(fall.endsAt()))
                        .addInteger(fall.drops())
                        .addBuffer(Buffer.buffer(seed.toBytes()))
                        .addBuffer(Buffer.buffer(HexFormat.of().parseHex(rain.commitment()))))
                .mapEmpty();
    }

    /** Announces a new rain, as the last statement of its transaction. */
    static Future<Void> announce(SqlConnection tx, CampaignId id) {
        return tx.preparedQuery("select announce_rain($1)")
                .execute(Tuple.of(id.value()))
                .mapEmpty();
    }

    private static Rain rain(Row row) {
        return new Rain(
                new CampaignId(row.getUUID("id")),
                row.getInteger("shard"),
                new UserId(row.getString("sponsor")),
                Rain.Definition.read(row.getJsonObject("definition")),
                row.getString("commitment"));
    }

    private static Rain.View view(Row row) {
        return new Rain.View(
                rain(row),
                Rain.View.Status.valueOf(row.getString("status").toUpperCase(Locale.ROOT)),
                Rows.instant(row, "ends_at"),
                Rows.instantOrNull(row, "cancelled_at"),
                new Rain.View.Caught(row.getInteger("caught"), row.getLong("amount"), row.getLong("returned")),
                List.of(),
                List.of(),
                row.getString("seed"));
    }

    private static UUID[] uuids(Collection<CampaignId> ids) {
        return ids.stream().map(CampaignId::value).toArray(UUID[]::new);
    }
}
