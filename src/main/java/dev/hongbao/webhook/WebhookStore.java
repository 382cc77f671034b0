package dev.hongbao.webhook;

import dev.hongbao.store.postgres.Rows;
import dev.hongbao.store.postgres.Transactions;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The reads and writes of deliveries in Postgres. Thread-safe. */
final class WebhookStore {
    /** The key of the delivering server's advisory lock: "hw". */
    private static final int COURIER = 0x6877;

    /** Attempts kept per webhook. */
    private static final int DELIVERIES = 1_000;

    private static final String LIST = """
        select id, attempts, disabled_at is not null and reason <> 'paused' as disabled,
               disabled_at is not null and reason = 'paused' as paused
        from webhook
        """;

    private static final String DUE = """
        select w.url, w.types, w.batch, w.position, w.attempts,
               case when w.attempts > 0 then greatest(0, extract(epoch from w.next_at - now()) * 1000) else 0 end::bigint as wait_millis,
               array(select s.secret from webhook_secret as s
                     where s.webhook = w.id and (s.ends_at is null or s.ends_at > now()) order by s.id desc) as secrets
        from webhook as w where w.id = $1 and w.disabled_at is null
        """;

    private static final String DELIVERED = """
        with moved as (
            update webhook set position = $3, low = $4, attempts = 0, failing_since = null
            where id = $1 and position = $2 and types = $10 and disabled_at is null
            returning id
        )
        insert into webhook_delivery (webhook, message, after, events, status, error, millis)
        select id, $5, $2, $6, $7, $8, $9 from moved
        """;

    private static final String PASSED = """
        update webhook set position = $3, low = $4 where id = $1 and position = $2 and types = $5
        """;

    private static final String FAILED = """
        with failed as (
            update webhook
            set attempts = attempts + 1, failing_since = coalesce(failing_since, now()),
                next_at = now() + $3 * interval '1 millisecond',
                disabled_at = case when $4 or failing_since < now() - $5 * interval '1 millisecond' then now() end,
                reason = case when $4 then 'gone'
                              when failing_since < now() - $5 * interval '1 millisecond' then 'failing' end
            where id = $1 and position = $2 and attempts = $11 and url = $12 and disabled_at is null
            returning id, reason
        ), noted as (
            insert into webhook_delivery (webhook, message, after, events, status, error, millis)
            select id, $6, $2, $7, $8, $9, $10 from failed
        )
        select reason from failed
        """;

    private static final String TRIM = """
        with old as materialized ( -- once a webhook; else perhaps once a row
            select w.id, (select x.n from webhook_delivery as x where x.webhook = w.id order by x.n desc offset $1 limit 1) as n
            from webhook as w
        )
        delete from webhook_delivery as d using old as o where d.webhook = o.id and d.n <= o.n
        """;

    private static final String LAG = """
        with streams as materialized (
            select -1::smallint as shard union all select id from shard
        ), newest as materialized (
            select max(l.n) as n
            from streams as s
            cross join lateral (select o.n from outbox as o where o.shard = s.shard order by o.n desc limit 1) as l
        )
        select coalesce(max(greatest(newest.n - w.low, 0)), 0) as behind,
               coalesce(max(extract(epoch from now() - oldest.at)), 0)::float8 as seconds
        from webhook as w
        cross join newest
        cross join lateral (
            select min(x.at) as at
            from streams as s
            cross join lateral (select o.at from outbox as o where o.shard = s.shard and o.n > w.low order by o.n limit 1) as x) as oldest
        where w.disabled_at is null
        """;

    private final Pool pool;

    public WebhookStore(Pool pool) {
        this.pool = pool;
    }

    /** Tries to become the delivering server, of all servers, while the session lasts. */
    public static Future<Boolean> apply(SqlClient session) {
        return session.preparedQuery("select pg_try_advisory_lock($1, 0)")
                .execute(Tuple.of(COURIER))
                .map(rows -> rows.iterator().next().getBoolean(0));
    }

    /**
     * A webhook in the list of the delivering server.
     *
     * @param attempts failed ones in a row
     */
    public record Listed(UUID id, int attempts, boolean isDisabled, boolean isPaused) {}

    /** All webhooks, including disabled and paused ones. */
    public static Future<List<Listed>> list(SqlClient session) {
        return session.query(LIST)
                .execute()
                .map(rows -> Rows.list(
                        rows,
                        row -> new Listed(
                                row.getUUID("id"),
                                row.getInteger("attempts"),
                                row.getBoolean("disabled"),
                                row.getBoolean("paused"))));
    }

    /**
     * The lag of the slowest enabled webhook. Skipped events of other types count for some seconds, since the position is written only now
     * and then.
     *
     * @param rows of the outbox after its position, approximately
     * @param seconds age of the oldest of them
     */
    public record Lag(long rows, double seconds) {
        /** No lag. */
        public static final Lag NONE = new Lag(0, 0);
    }

    public Future<Lag> lag() {
        return pool.query(LAG).execute().map(rows -> {
            Row row = rows.iterator().next();
            return new Lag(row.getLong("behind"), row.getDouble("seconds"));
        });
    }

    /**
     * An enabled webhook.
     *
     * @param secrets for signing, newest first
     * @param attempts failed ones in a row
     * @param waitMillis until the next attempt; 0 for now
     */
    public record Due(Webhook.Terms terms, List<String> secrets, String position, int attempts, long waitMillis) {
        public Due {
            secrets = List.copyOf(secrets);
        }

        private String[] typesArray() {
            return terms.types().toArray(String[]::new);
        }
    }

    /**
     * A finished attempt.
     *
     * @param due the webhook before the attempt. If its position has changed since, nothing is written. If its URL or failed attempts have
     *     changed, as by a redelivery, a failure writes nothing. If its types have, a success writes nothing: the message may have passed
     *     events of the new types
     */
    public record Attempt(UUID webhook, Due due, String message, int events, Delivery.Answer answer) {
        private Tuple addTo(Tuple tuple) {
            return tuple.addString(message)
                    .addInteger(events)
                    .addInteger(answer.status())
                    .addString(answer.error())
                    .addInteger(answer.millis());
        }
    }

    /** @return null when it is disabled or deleted */
    public Future<@Nullable Due> due(UUID webhook) {
        return pool.preparedQuery(DUE).execute(Tuple.of(webhook)).map(rows -> {
            if (rows.size() == 0) {
                return null;
            }
            Row row = rows.iterator().next();
            return new Due(
                    new Webhook.Terms(
                            row.getString("url"), List.of(row.getArrayOfStrings("types")), row.getInteger("batch")),
                    List.of(row.getArrayOfStrings("secrets")),
                    row.getString("position"),
                    row.getInteger("attempts"),
                    row.getLong("wait_millis"));
        });
    }

    /** Records a success, and advances the webhook. */
    public Future<Void> delivered(Attempt attempt, OutboxCursor next) {
        return Transactions.statement(() -> pool.preparedQuery(DELIVERED)
                .execute(attempt.addTo(Tuple.of(attempt.webhook, attempt.due.position)
                                .addString(next.text())
                                .addLong(next.least()))
                        .addArrayOfString(attempt.due.typesArray()))
                .mapEmpty());
    }

    /** Advances a webhook past events that it does not get, unless its types have changed. */
    public Future<Void> passed(UUID webhook, Due due, OutboxCursor next) {
        return pool.preparedQuery(PASSED)
                .execute(Tuple.of(webhook, due.position, next.text(), next.least(), due.typesArray()))
                .mapEmpty();
    }

    /**
     * Records a failure.
     *
     * @param wait until the next attempt
     * @param disableAfter the longest time of failures; a receiver that wants no more is disabled at once
     * @return the reason when it is disabled now; null when it is not
     */
    public Future<@Nullable String> failed(Attempt attempt, Duration wait, Duration disableAfter) {
        Tuple parameters = Tuple.of(attempt.webhook, attempt.due.position)
                .addLong(wait.toMillis())
                .addBoolean(attempt.answer.isGone())
                .addLong(disableAfter.toMillis());
        return Transactions.statement(() -> pool.preparedQuery(FAILED)
                        .execute(attempt.addTo(parameters)
                                .addInteger(attempt.due.attempts)
                                .addString(attempt.due.terms.url())))
                .map(WebhookStore::reason);
    }

    private static @Nullable String reason(RowSet<Row> rows) {
        return rows.size() == 0 ? null : rows.iterator().next().getString("reason");
    }

    /** Removes all but the latest attempts of each webhook. Called periodically. */
    public Future<Void> trim() {
        return pool.preparedQuery(TRIM).execute(Tuple.of(DELIVERIES)).mapEmpty();
    }
}
