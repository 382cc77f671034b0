package dev.hongbao.campaign;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.f4b6a3.uuid.UuidCreator;
import dev.hongbao.campaign.CampaignService.CampaignReport;
import dev.hongbao.engine.Quarantine;
import dev.hongbao.ledger.Idempotency;
import dev.hongbao.ledger.Ledger;
import dev.hongbao.store.postgres.RowCache;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.Page;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Campaigns in Postgres, without rains. The fixed facts are cached. Thread-safe. */
final class CampaignCatalog extends RowCache<CampaignId, Campaign> {
    /** Up to 100 KB for a campaign with a list of users, usually 2 KB. */
    private static final int MAX_CAMPAIGNS = 1_000;

    private static final String FIND =
            "select id, shard, sponsor, definition from campaign where id = any ($1) and kind = 'campaign'";

    private static final String STATUS = """
        case when c.closed_at is not null then 'closed'
             when c.ends_at <= now() then 'ending'
             when c.paused_at is not null then 'paused'
             when not is_open_at(c.opens_at, c.created_at, now()) then 'planned'
             else 'open' end
        """;

    private static final String VIEW = """
        select c.id, c.shard, c.sponsor, c.definition, c.budget, c.returned, c.opens_at, c.ends_at, c.paused_at, e.balance,
               %s as status
        from campaign as c join account as e on e.id = c.escrow
        """.formatted(STATUS);

    private static final String ALL = "select c.id from campaign as c where c.kind = 'campaign'";

    /**
     * Pools by day and product, from a given line on. A closed pool's claimed amount is its amount less its refund. An open pool's claims
     * are read through their index. Slots have no gaps, so the highest one counts the claims.
     */
    private static final String REPORT = """
        select g.day, g.product, count(*) as pools, sum(p.amount)::bigint as amount, sum(p.refund)::bigint as returned,
               sum(c.claims)::bigint as claims, coalesce(sum(c.amount), 0)::bigint as claimed
        from (select o.day, o.product from pool as o
              where o.campaign = $1 and (o.day, o.product) > ($2, $3)
              group by o.day, o.product order by o.day, o.product limit $4) as g
        join pool as o on o.campaign = $1 and o.day = g.day and o.product = g.product
        join packet as p on p.id = o.packet
        cross join lateral (
            select case when p.closed_at is not null and p.refund = 0 then p.count
                        else coalesce((select max(t.slot) + 1 from transfer as t
                                       where t.subject = o.packet and t.slot is not null), 0) end as claims,
                   case when p.closed_at is not null then p.amount - p.refund
                        else (select sum(t.amount) from transfer as t
                              where t.subject = o.packet and t.slot is not null) end as amount
        ) as c
        group by g.day, g.product order by g.day, g.product
        """;

    private static final String SET_PAUSED = """
        update campaign set paused_at = case when $2 then coalesce(paused_at, now()) end
        where id = $1 and closed_at is null and ends_at > clock_timestamp()
        """;

    private static final String RAISE = """
        update campaign set budget = budget + $2
        where id = $1 and closed_at is null and ends_at > clock_timestamp()
        returning refund_to, escrow, sponsor
        """;

    private static final String ADMITS = """
        select coalesce(definition -> 'opening' -> 'groups' ?| $3, true)
           and coalesce(definition -> 'opening' -> 'users' ? $2, true) from campaign where id = $1
        """;

    private static final String FUND = """
        insert into transfer (subject, debit, credit, amount, kind) values ($1, $2, $3, $4, 'fund') returning id
        """;

    private final Pool pool;
    private final Pool books;
    private final Quarantine quarantine;

    /**
     * @param books a pool whose statements may take minutes: a report sums all pools of a day and a product
     * @param quarantine notes campaigns that this server cannot read
     */
    public CampaignCatalog(Pool pool, Pool books, Quarantine quarantine) {
        super(
                Caffeine.newBuilder()
                        .maximumSize(MAX_CAMPAIGNS)
                        .executor(Runnable::run)
                        .build(),
                Campaign::id);
        this.pool = pool;
        this.books = books;
        this.quarantine = quarantine;
    }

    @Override
    protected Future<List<Campaign>> read(Collection<CampaignId> ids) {
        return pool.preparedQuery(FIND)
                .execute(Tuple.tuple()
                        .addArrayOfUUID(ids.stream().map(CampaignId::value).toArray(UUID[]::new)))
                .map(rows -> readable(quarantine, "campaign", rows, CampaignCatalog::campaign));
    }

    /** The campaign; null for an unknown one. Fails as set aside for one that this server cannot read; {@link #findAll} leaves it out. */
    @Override
    public Future<@Nullable Campaign> find(CampaignId id) {
        return super.find(id).map(campaign -> orSetAside(quarantine, id, campaign));
    }

    /** The current state of a campaign; null for an unknown one. Fails as {@link #find}. */
    Future<Campaign.@Nullable View> view(CampaignId id) {
        return pool.preparedQuery(VIEW + "where c.id = $1 and c.kind = 'campaign'")
                .execute(Tuple.of(id.value()))
                .map(rows -> readable(quarantine, "campaign", rows, CampaignCatalog::view))
                .map(views -> orSetAside(quarantine, id, views.isEmpty() ? null : views.get(0)));
    }

    /**
     * Campaigns older than a given one, newest first.
     *
     * @param sponsor null for all
     * @param status null for all
     */
    Future<Page<Campaign.View>> list(
            @Nullable UserId sponsor, Campaign.View.@Nullable Status status, CampaignId before, int limit) {
        return list(pool, VIEW, ALL, STATUS, sponsor, status == null ? null : status.wireName(), before, limit)
                .map(page ->
                        new Page<>(readable(quarantine, "campaign", page.items(), CampaignCatalog::view), page.next()));
    }

    /**
     * Lists campaigns or rains, otherwise as above. The page is chosen first: a view counts a rain's catches.
     *
     * @param view without a {@code where}
     * @param all selects the ids of all, and ends within its {@code where}
     */
    static Future<Page<Row>> list(
            Pool pool,
            String view,
            String all,
            String statusOf,
            @Nullable UserId sponsor,
            @Nullable String status,
            CampaignId before,
            int limit) {
        Tuple parameters = Tuple.of(before.value(), limit + 1);
        String page = all + " and c.id < $1";
        if (sponsor != null) {
            parameters.addString(sponsor.value());
            page += " and c.sponsor = $" + parameters.size();
        }
        if (status != null) {
            parameters.addString(status);
            page += " and " + statusOf + " = $" + parameters.size();
        }
        page += " order by c.id desc limit $2";
        return pool.preparedQuery(view + " where c.id = any (array(" + page + ")) order by c.id desc")
                .execute(parameters)
                .map(rows -> Rows.page(rows, limit));
    }

    /** Leaves out rows that this server cannot read, and notes them. */
    static <T> List<T> readable(Quarantine quarantine, String kind, Iterable<Row> rows, Function<Row, T> read) {
        List<T> items = new ArrayList<>();
        for (Row row : rows) {
            try {
                items.add(read.apply(row));
            } catch (RuntimeException fault) {
                var unused = quarantine
                        .forReaders()
                        .met(
                                new Quarantine.Unit(kind, row.getUUID("id")),
                                row.getInteger("shard"),
                                String.valueOf(fault.getMessage()));
            }
        }
        return items;
    }

    /** The campaign or rain that was read. Fails if it exists, but this server cannot read it. */
    static <T> @Nullable T orSetAside(Quarantine quarantine, CampaignId id, @Nullable T read) {
        if (read == null && quarantine.refuses(id.value())) {
            throw UnavailableException.setAside();
        }
        return read;
    }

    /** Whether a campaign lets a user open pools in at least one of these groups. Ignores its limits. */
    Future<Boolean> admits(CampaignId id, UserId user, Collection<GroupId> groups) {
        return pool.preparedQuery(ADMITS)
                .execute(Tuple.tuple()
                        .addUUID(id.value())
                        .addString(user.value())
                        .addArrayOfString(groups.stream().map(GroupId::value).toArray(String[]::new)))
                .map(rows -> rows.iterator().next().getBoolean(0));
    }

    /** Stops or allows the opening of pools; false when the campaign has ended. Idempotent. */
    Future<Boolean> setPaused(CampaignId id, boolean paused) {
        return pool.preparedQuery(SET_PAUSED)
                .execute(Tuple.of(id.value(), paused))
                .map(rows -> rows.rowCount() == 1);
    }

    /** Ends the campaign. {@link CampaignOwnerTask} ends its pools. Idempotent. */
    Future<Void> end(CampaignId id) {
        return pool.preparedQuery("select end_campaign($1)")
                .execute(Tuple.of(id.value()))
                .mapEmpty();
    }

    /**
     * Adds to the escrow, within a transaction.
     *
     * @param scope the caller and the key
     * @return false when the campaign has ended
     */
    static Future<Boolean> raise(SqlConnection tx, CampaignId id, long amount, Idempotency.Scope scope) {
        return tx.preparedQuery(RAISE).execute(Tuple.of(id.value(), amount)).compose(rows -> {
            if (rows.rowCount() == 0) {
                return Future.succeededFuture(false);
            }
            Row row = rows.iterator().next();
            UUID command = UuidCreator.getTimeOrderedEpoch();
            return Ledger.command(tx, command, scope)
                    .compose(noted -> fund(
                            tx,
                            id,
                            new UserId(row.getString("sponsor")),
                            row.getLong("refund_to"),
                            row.getLong("escrow"),
                            amount))
                    .compose(transfer -> tx.preparedQuery(
                                    "insert into budget_raise (campaign, transfer, command) values ($1, $2, $3)")
                            .execute(Tuple.of(id.value(), transfer, command)))
                    .map(true);
        });
    }

    /** Whether a campaign lets any user open pools in a group. */
    Future<Boolean> opensIn(CampaignId id, GroupId group) {
        return pool.preparedQuery(
                        "select coalesce(definition -> 'opening' -> 'groups' ? $2, true) from campaign where id = $1")
                .execute(Tuple.of(id.value(), group.value()))
                .map(rows -> rows.rowCount() == 1 && rows.iterator().next().getBoolean(0));
    }

    /**
     * Moves money from the sponsor's wallet into the escrow, within a transaction.
     *
     * @return the transfer; refused with FROZEN
     */
    static Future<Long> fund(SqlConnection tx, CampaignId id, UserId sponsor, long wallet, long escrow, long amount) {
        return Ledger.lockToPay(tx, sponsor, List.of(wallet, escrow))
                .compose(locked -> tx.preparedQuery(FUND).execute(Tuple.of(id.value(), wallet, escrow, amount)))
                .map(rows -> rows.iterator().next().getLong(0));
    }

    /** The report's lines after a given one, by day and product. */
    Future<List<CampaignReport>> report(CampaignId id, int afterDay, String afterProduct, int limit) {
        return books.preparedQuery(REPORT)
                .execute(Tuple.of(id.value(), afterDay, afterProduct, limit))
                .map(rows -> rows.stream().map(CampaignCatalog::line).toList());
    }

    private static Campaign campaign(Row row) {
        return new Campaign(
                new CampaignId(row.getUUID("id")),
                row.getInteger("shard"),
                new UserId(row.getString("sponsor")),
                Campaign.Definition.read(row.getJsonObject("definition")));
    }

    private static Campaign.View view(Row row) {
        return new Campaign.View(
                campaign(row),
                Campaign.View.Status.valueOf(row.getString("status").toUpperCase(Locale.ROOT)),
                row.getLong("budget"),
                row.getLong("balance"),
                row.getLong("returned"),
                Rows.instant(row, "opens_at"),
                Rows.instant(row, "ends_at"),
                Rows.instantOrNull(row, "paused_at"));
    }

    private static CampaignReport line(Row row) {
        return new CampaignReport(
                row.getInteger("day"),
                row.getString("product"),
                row.getLong("pools"),
                row.getLong("claims"),
                row.getLong("amount"),
                row.getLong("claimed"),
                row.getLong("returned"));
    }
}
