package dev.hongbao.domain.webhook;

import com.github.f4b6a3.uuid.UuidCreator;
import dev.hongbao.common.values.Caller;
import dev.hongbao.common.values.IdempotencyKey;
import dev.hongbao.common.values.Page;
import dev.hongbao.common.values.Refusal;
import dev.hongbao.common.values.RefusedException;
import dev.hongbao.domain.ledger.Idempotency;
import dev.hongbao.domain.outbox.OutboxCursor;
import dev.hongbao.domain.outbox.OutboxReader;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** What the host application's backend does with webhooks. Thread-safe. */
public final class Webhooks {
    /** All there may be. */
    public static final int MOST = 50;

    /** Secrets of one webhook that sign at a time; more would make each message's header long. */
    private static final int MOST_SECRETS = 5;

    private static final int SECRET_BYTES = 32;

    private static final String READ =
            "select id, url, types, batch, created_at, position, attempts, failing_since, next_at,"
                    + " reason from webhook ";

    private final Pool pool;
    private final OutboxReader outbox;
    private final Idempotency idempotency;
    private final Duration overlap;
    private final AddressGuard guard;
    private final SecureRandom random = new SecureRandom();

    /**
     * @param overlap how long an old secret still signs
     * @param guard which addresses a URL may lead to
     */
    public Webhooks(Pool pool, OutboxReader outbox, Duration overlap, AddressGuard guard) {
        this.pool = pool;
        this.outbox = outbox;
        this.idempotency = new Idempotency(pool);
        this.overlap = overlap;
        this.guard = guard;
    }

    /** A webhook and the secret that it has got; shown to who made it, and to nobody else. */
    public record Made(Webhook webhook, String secret) {}

    /**
     * Makes one, which is told what is settled from now on.
     *
     * @return refused with INVALID when the URL is not allowed, or there are {@link #MOST} already
     */
    public Future<Made> create(Caller caller, Webhook.Terms terms, IdempotencyKey key) {
        try {
            WebhookUrl.check(terms.url(), guard);
        } catch (RefusedException refused) {
            return Future.failedFuture(refused);
        }
        UUID id = UuidCreator.getTimeOrderedEpoch();
        return outbox.latest()
                .compose(now -> idempotency.once(
                        Idempotency.Scope.of(caller, "webhook", key, terms.toString()),
                        tx -> insert(tx, id, terms, now).map(secret -> new Idempotency.Done<>(secret, secret))))
                .compose(done -> made(done.subject()));
    }

    /** @return the secret's id */
    private Future<UUID> insert(SqlConnection tx, UUID id, Webhook.Terms terms, OutboxCursor now) {
        return tx.query("select pg_advisory_xact_lock(hashtextextended('webhooks', 0))::text")
                .execute()
                .compose(locked -> tx.preparedQuery("insert into webhook (id, url, types, batch, position, low)"
                                + " select $1, $2, $3, $4, $5, $6 where (select count(*) from webhook) < $7")
                        .execute(Tuple.of(id, terms.url(), terms.types().toArray(String[]::new), terms.batch())
                                .addString(now.text())
                                .addLong(now.least())
                                .addInteger(MOST)))
                .compose(inserted -> inserted.rowCount() == 0
                        ? Future.failedFuture(new RefusedException(
                                Refusal.INVALID, "There are " + MOST + " webhooks already: delete one first."))
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
     * Gives it a new secret. The one before signs as well for a while.
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
                        ? Future.failedFuture(new RefusedException(
                                Refusal.INVALID, "Five secrets sign already: wait until one of them has ended."))
                        : tx.preparedQuery("update webhook_secret set ends_at = now() + $2 * interval '1 millisecond'"
                                        + " where webhook = $1 and ends_at is null")
                                .execute(Tuple.of(webhook, overlap.toMillis()))
                                .mapEmpty());
    }

    /** All, the oldest first. */
    public Future<List<Webhook>> list() {
        return pool.query(READ + "order by id")
                .execute()
                .map(rows -> StreamSupport.stream(rows.spliterator(), false)
                        .map(Webhooks::webhook)
                        .toList());
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
        return Future.failedFuture(new RefusedException(Refusal.NOT_FOUND, "There is no such webhook."));
    }

    /** Deletes it, its secrets and what is remembered of its deliveries; does nothing when it is gone. */
    public Future<Void> delete(UUID webhook) {
        return pool.preparedQuery("delete from webhook where id = $1")
                .execute(Tuple.of(webhook))
                .mapEmpty();
    }

    /**
     * The latest attempts, the newest first.
     *
     * @param cursor a page's {@code next}; null for the first page
     * @return refused with NOT_FOUND; fails as {@link Page#badCursor} says
     */
    public Future<Page<Delivery>> deliveries(UUID webhook, @Nullable String cursor, int limit) {
        if (cursor != null && !cursor.matches("[0-9]{1,18}")) {
            return Future.failedFuture(Page.badCursor());
        }
        long before = cursor == null ? Long.MAX_VALUE : Long.parseLong(cursor);
        return find(webhook)
                .compose(there -> pool.preparedQuery("select n, message, after, events, status, error, millis, at"
                                + " from webhook_delivery where webhook = $1 and n < $2 order by n desc limit $3")
                        .execute(Tuple.of(webhook, before, limit + 1)))
                .map(rows -> Page.of(
                        StreamSupport.stream(rows.spliterator(), false)
                                .map(Webhooks::delivery)
                                .toList(),
                        limit,
                        delivery -> Long.toString(delivery.n())));
    }

    /**
     * Delivers again what comes after a position, and enables it if it is disabled.
     *
     * @param after a delivery's; null for where it stands
     * @return refused with NOT_FOUND; with INVALID when {@code after} is not a cursor
     */
    public Future<Webhook> redeliver(Caller caller, UUID webhook, @Nullable String after, IdempotencyKey key) {
        OutboxCursor from = after == null ? null : OutboxCursor.parse(after);
        if (after != null && (from == null || !outbox.fits(from))) {
            return Future.failedFuture(
                    new RefusedException(Refusal.INVALID, "`after` is not a position of a delivery."));
        }
        String position = from == null ? null : from.text();
        Long low = from == null ? null : from.least();
        return idempotency
                .once(
                        Idempotency.Scope.of(caller, "webhook-redeliver", key, webhook + " " + after),
                        tx -> tx.preparedQuery(
                                        "update webhook set position = coalesce($2, position), low = coalesce($3, low),"
                                                + " attempts = 0, failing_since = null, next_at = now(), disabled_at = null,"
                                                + " reason = null where id = $1 returning id")
                                .execute(Tuple.of(webhook, position, low))
                                .compose(rows -> rows.size() == 0
                                        ? Webhooks.<Idempotency.Done<UUID>>notFound()
                                        : Future.succeededFuture(new Idempotency.Done<>(webhook, webhook))))
                .compose(done -> find(webhook));
    }

    private static Webhook webhook(Row row) {
        OffsetDateTime failing = row.getOffsetDateTime("failing_since");
        return new Webhook(
                row.getUUID("id"),
                new Webhook.Terms(
                        row.getString("url"), List.of(row.getArrayOfStrings("types")), row.getInteger("batch")),
                row.getOffsetDateTime("created_at").toInstant(),
                row.getString("position"),
                new Webhook.State(
                        row.getInteger("attempts"),
                        failing == null ? null : failing.toInstant(),
                        row.getOffsetDateTime("next_at").toInstant(),
                        row.getString("reason")));
    }

    private static Delivery delivery(Row row) {
        return new Delivery(
                row.getLong("n"),
                row.getString("message"),
                row.getString("after"),
                row.getInteger("events"),
                row.getOffsetDateTime("at").toInstant(),
                new Delivery.Answer(row.getInteger("status"), row.getString("error"), row.getInteger("millis")));
    }
}
