package dev.hongbao.webhook;

import com.github.f4b6a3.uuid.UuidCreator;
import dev.hongbao.ledger.Idempotency;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.Caller;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Page;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Webhooks, for the host application's backend. Thread-safe. */
final class Webhooks {
    /** The most webhooks. */
    public static final int MOST = 50;

    /** The most signing secrets of one webhook. More would make each message's header long. */
    private static final int MOST_SECRETS = 5;

    private static final int SECRET_BYTES = 32;

    /** The longest lookup of a name. A slower name is accepted: each delivery looks it up again. */
    private static final long LOOKUP_MILLIS = 3_000;

    private static final String LATEST = "latest";
    private static final String OLDEST = "oldest";

    private static final String READ = """
        select id, url, types, batch, created_at, position, attempts, failing_since, next_at, reason from webhook
        """;

    private static final String INSERT = """
        insert into webhook (id, url, types, batch, position, low)
        select $1, $2, $3, $4, $5, $6 where (select count(*) from webhook) < $7
        """;

    private static final String REDELIVER = """
        update webhook
        set position = coalesce($2, position), low = coalesce($3, low), attempts = 0, failing_since = null,
            disabled_at = case when reason = 'paused' then disabled_at end, reason = case when reason = 'paused' then reason end
        where id = $1 returning id
        """;

    private static final String SECRETS = """
        select secret from webhook_secret where webhook = $1 and (ends_at is null or ends_at > now()) order by id desc
        """;

    private static final String END_SECRET = """
        update webhook_secret set ends_at = now() + $2 * interval '1 millisecond' where webhook = $1 and ends_at is null
        """;

    private static final String DELIVERIES = """
        select n, message, after, events, status, error, millis, at from webhook_delivery
        where webhook = $1 and n < $2 order by n desc limit $3
        """;

    private static final String CHANGE = """
        update webhook as w
        set url = coalesce($2, w.url), types = coalesce($3, w.types), batch = coalesce($4, w.batch),
            attempts = case when anew then 0 else w.attempts end,
            failing_since = case when not anew then w.failing_since end,
            disabled_at = case when $5 then now() when not $5 then null else w.disabled_at end,
            reason = case when $5 then 'paused' when not $5 then null else w.reason end
        from (select $2::text is not null or coalesce(not $5::boolean, false) as anew) as is_begun
        where w.id = $1
        """;

    private final Pool pool;
    private final OutboxReader outbox;
    private final Idempotency idempotency;
    private final Duration overlap;
    private final AddressGuard guard;
    private final SecureRandom random = new SecureRandom();

    /**
     * @param overlap how long an old secret still signs
     * @param guard the allowed addresses of a URL
     */
    public Webhooks(Pool pool, OutboxReader outbox, Duration overlap, AddressGuard guard) {
        this.pool = pool;
        this.outbox = outbox;
        this.idempotency = new Idempotency(pool);
        this.overlap = overlap;
        this.guard = guard;
    }

    /** A webhook and its new secret, shown only to the caller that made it. */
    public record Made(Webhook webhook, String secret) {}

    /**
     * Makes a webhook for the events after a place. Idempotent by (caller, key).
     *
     * @param after as for {@link #place}; null for events settled from now on
     * @return fails with {@link InvalidInputException} when the URL or the place is not allowed; refused with INVALID when {@link #MOST}
     *     exist
     */
    public Future<Made> create(Caller caller, Webhook.Terms terms, @Nullable String after, IdempotencyKey key) {
        UUID id = UuidCreator.getTimeOrderedEpoch();
        var scope = Idempotency.Scope.of(caller, "webhook", key, terms + " " + after);
        return allowed(terms.url())
                .recover(refused -> Idempotency.before(pool, scope)
                        .compose(made -> made == null ? Future.failedFuture(refused) : Future.succeededFuture()))
                .compose(allowed -> place(after == null ? LATEST : after))
                .compose(now -> idempotency.once(
                        scope, tx -> insert(tx, id, terms, now).map(secret -> new Idempotency.Done<>(secret, secret))))
                .compose(done -> made(done.subject()));
    }

    /**
     * Refuses what a delivery would refuse. The name is looked up, as by each delivery. An unknown name is accepted, since it may be known
     * later.
     */
    private Future<Void> allowed(String url) {
        try {
            guard.check(url);
        } catch (InvalidInputException refused) {
            return Future.failedFuture(refused);
        }
        URI target = URI.create(url);
        return Objects.requireNonNull(Vertx.currentContext(), "called on an event loop")
                .executeBlocking(() -> guard.address(target.getHost(), "https".equals(target.getScheme()), 0), false)
                .timeout(LOOKUP_MILLIS, TimeUnit.MILLISECONDS)
                .transform(looked -> looked.cause() instanceof AddressGuard.ForbiddenException forbidden
                        ? Future.failedFuture(AddressGuard.notPublic(forbidden.why()))
                        : Future.succeededFuture());
    }

    /**
     * A place in the outbox, named by the host.
     *
     * @param after a position of a webhook or a delivery, a page's {@code next}, {@code oldest} or {@code latest}
     * @return fails with {@link InvalidInputException} for another text
     */
    private Future<OutboxCursor> place(String after) {
        if (after.equals(LATEST)) {
            return outbox.latest();
        }
        if (after.equals(OLDEST)) {
            return outbox.oldest();
        }
        OutboxCursor from = OutboxCursor.parse(after);
        return from == null || !outbox.fits(from)
                ? Future.failedFuture(InvalidInputException.of("#/after", Text.of("webhook.after")))
                : Future.succeededFuture(from);
    }

    /** @return the secret's id */
    private Future<UUID> insert(SqlConnection tx, UUID id, Webhook.Terms terms, OutboxCursor now) {
        return tx.query("select pg_advisory_xact_lock(hashtextextended('webhooks', 0))::text")
                .execute()
                .compose(locked -> tx.preparedQuery(INSERT)
                        .execute(Tuple.of(id, terms.url(), terms.types().toArray(String[]::new), terms.batch())
                                .addString(now.text())
                                .addLong(now.least())
                                .addInteger(MOST)))
                .compose(inserted -> inserted.rowCount() == 0
                        ? Refusal.INVALID.failure(Reason.FULL, Text.of("webhook.too-many", MOST))
                        : addSecret(tx, id));
    }

    private Future<UUID> addSecret(SqlConnection tx, UUID webhook) {
        byte[] secret = new byte[SECRET_BYTES];
        random.nextBytes(secret);
        UUID id = UuidCreator.getTimeOrderedEpoch();
        return tx.preparedQuery("insert into webhook_secret (id, webhook, secret) values ($1, $2, $3)")
                .execute(Tuple.of(id, webhook, "whsec_" + Base64.getEncoder().encodeToString(secret)))
                .map(id);
    }

    private Future<Made> made(UUID secret) {
        return pool.preparedQuery("select webhook, secret from webhook_secret where id = $1")
                .execute(Tuple.of(secret))
                .compose(rows -> {
                    if (rows.size() == 0) {
                        return notFound();
                    }
                    Row row = rows.iterator().next();
                    return find(row.getUUID(0)).map(webhook -> new Made(webhook, row.getString(1)));
                });
    }

    /**
     * Makes a new secret. The one before also signs for a while. Idempotent by (caller, key).
     *
     * @return refused with NOT_FOUND; with INVALID when five sign already
     */
    public Future<Made> rotate(Caller caller, UUID webhook, IdempotencyKey key) {
        return idempotency
                .once(
                        Idempotency.Scope.of(caller, "webhook-secret", key, webhook.toString()),
                        tx -> end(tx, webhook)
                                .compose(ended -> addSecret(tx, webhook))
                                .map(secret -> new Idempotency.Done<>(secret, secret)))
                .compose(done -> made(done.subject()));
    }

    private Future<Void> end(SqlConnection tx, UUID webhook) {
        return tx.preparedQuery("select from webhook where id = $1 for update")
                .execute(Tuple.of(webhook))
                .compose(rows -> rows.size() == 0 ? notFound() : Future.succeededFuture())
                .compose(there -> tx.preparedQuery("delete from webhook_secret where webhook = $1 and ends_at <= now()")
                        .execute(Tuple.of(webhook)))
                .compose(gone -> tx.preparedQuery("select from webhook_secret where webhook = $1")
                        .execute(Tuple.of(webhook)))
                .compose(left -> left.size() >= MOST_SECRETS
                        ? Refusal.INVALID.failure(Reason.FULL, Text.of("webhook.secrets"))
                        : tx.preparedQuery(END_SECRET)
                                .execute(Tuple.of(webhook, overlap.toMillis()))
                                .mapEmpty());
    }

    /**
     * Changes a webhook; null leaves a field as it is. A new URL and the end of a pause begin at once, with no failed attempts. Idempotent.
     *
     * @param paused true: nothing is sent until it is false; false enables a disabled webhook, too
     * @return refused with NOT_FOUND; fails with {@link InvalidInputException} when the URL is not allowed
     */
    public Future<Webhook> change(
            UUID webhook,
            @Nullable String url,
            @Nullable List<String> types,
            @Nullable Integer batch,
            @Nullable Boolean paused) {
        Future<Void> allowed = url == null ? Future.succeededFuture() : allowed(url);
        return allowed.compose(fits -> pool.preparedQuery(CHANGE)
                        .execute(Tuple.of(
                                webhook, url, types == null ? null : types.toArray(String[]::new), batch, paused)))
                .compose(changed -> find(webhook));
    }

    /** @return the signing secrets, newest first; refused with NOT_FOUND */
    public Future<List<String>> secrets(UUID webhook) {
        return pool.preparedQuery(SECRETS)
                .execute(Tuple.of(webhook))
                .compose(rows -> rows.size() == 0
                        ? notFound()
                        : Future.succeededFuture(Rows.list(rows, row -> row.getString(0))));
    }

    /** All webhooks, oldest first. */
    public Future<List<Webhook>> list() {
        return pool.query(READ + "order by id").execute().map(rows -> Rows.list(rows, Webhooks::webhook));
    }

    /** @return refused with NOT_FOUND */
    public Future<Webhook> find(UUID webhook) {
        return pool.preparedQuery(READ + "where id = $1")
                .execute(Tuple.of(webhook))
                .compose(rows -> rows.size() == 0
                        ? notFound()
                        : Future.succeededFuture(webhook(rows.iterator().next())));
    }

    private static <T> Future<T> notFound() {
        return Refusal.NOT_FOUND.failure(Text.of("webhook.not-found"));
    }

    /** Deletes a webhook with its secrets and attempts. Idempotent. */
    public Future<Void> delete(UUID webhook) {
        return pool.preparedQuery("delete from webhook where id = $1")
                .execute(Tuple.of(webhook))
                .mapEmpty();
    }

    /**
     * The latest attempts, newest first.
     *
     * @param cursor a page's {@code next}; null for the first page
     * @return refused with NOT_FOUND; fails as {@link Page#badCursor}
     */
    public Future<Page<Delivery>> deliveries(UUID webhook, @Nullable String cursor, int limit) {
        if (cursor != null && !cursor.matches("[0-9]{1,18}")) {
            return Future.failedFuture(Page.badCursor());
        }
        long before = cursor == null ? Long.MAX_VALUE : Long.parseLong(cursor);
        return find(webhook)
                .compose(there -> pool.preparedQuery(DELIVERIES).execute(Tuple.of(webhook, before, limit + 1)))
                .map(rows ->
                        Page.of(Rows.list(rows, Webhooks::delivery), limit, delivery -> Long.toString(delivery.n())));
    }

    /**
     * Moves a webhook to a position, and enables it if it is disabled; a paused one stays paused. An earlier position repeats deliveries, a
     * later one skips events. Idempotent by (caller, key).
     *
     * @param after as for {@link #place}; null for its current position
     * @return refused with NOT_FOUND; fails with {@link InvalidInputException} when {@code after} is no place
     */
    public Future<Webhook> redeliver(Caller caller, UUID webhook, @Nullable String after, IdempotencyKey key) {
        Future<@Nullable OutboxCursor> place =
                after == null ? Future.succeededFuture() : place(after).map(from -> from);
        return place.compose(from -> redeliver(caller, webhook, after, from, key));
    }

    private Future<Webhook> redeliver(
            Caller caller, UUID webhook, @Nullable String after, @Nullable OutboxCursor from, IdempotencyKey key) {
        String position = from == null ? null : from.text();
        Long low = from == null ? null : from.least();
        return idempotency
                .once(
                        Idempotency.Scope.of(caller, "webhook-redeliver", key, webhook + " " + after),
                        tx -> tx.preparedQuery(REDELIVER)
                                .execute(Tuple.of(webhook, position, low))
                                .compose(rows -> rows.size() == 0
                                        ? Webhooks.<Idempotency.Done<UUID>>notFound()
                                        : Future.succeededFuture(new Idempotency.Done<>(webhook, webhook))))
                .compose(done -> find(webhook));
    }

    private static Webhook webhook(Row row) {
        return new Webhook(
                row.getUUID("id"),
                new Webhook.Terms(
                        row.getString("url"), List.of(row.getArrayOfStrings("types")), row.getInteger("batch")),
                Rows.instant(row, "created_at"),
                row.getString("position"),
                row.getInteger("attempts"),
                Rows.instantOrNull(row, "failing_since"),
                Rows.instant(row, "next_at"),
                row.getString("reason"));
    }

    private static Delivery delivery(Row row) {
        return new Delivery(
                row.getLong("n"),
                row.getString("message"),
                row.getString("after"),
                row.getInteger("events"),
                Rows.instant(row, "at"),
                new Delivery.Answer(row.getInteger("status"), row.getString("error"), row.getInteger("millis")));
    }
}
