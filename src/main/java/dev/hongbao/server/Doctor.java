package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.config.ListenAddress;
import dev.hongbao.domain.webhook.WebhookStore;
import dev.hongbao.engine.embedded.EmbeddedServers;
import dev.hongbao.engine.postgres.Months;
import dev.hongbao.engine.postgres.Postgres;
import dev.hongbao.engine.redis.RedisInfo;
import dev.hongbao.engine.redis.RedisLinks;
import dev.hongbao.engine.shard.ShardOwners;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * Asks a server that may be at work, by its management port, and its stores what one asks at night. It only looks, waits for each answer some
 * seconds, and starts nothing. Blocking.
 */
public final class Doctor {
    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final int CONNECTIONS = 2;
    private static final int QUEUE = 20;

    private static final String SESSIONS = """
            select current_setting('server_version') as version,
                   (select count(*) from pg_stat_activity where backend_type = 'client backend') as used,
                   current_setting('max_connections')::bigint as most,
                   coalesce((select max(extract(epoch from now() - xact_start)) from pg_stat_activity
                             where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()), 0)::float8 as longest,
                   (extract(epoch from clock_timestamp()) * 1000)::bigint as millis
            """;

    private static final String DEAD = """
            select relname::text as name, n_dead_tup as dead, n_live_tup as live
            from pg_stat_user_tables order by n_dead_tup desc, relname limit 1
            """;

    private static final String WORK = """
            select (select count(*) from quarantine_unit) as aside,
                   (select count(*) from webhook where disabled_at is not null) as disabled
            """;

    private final HongbaoConfig config;
    private final List<Ailment> found = new ArrayList<>();

    private Doctor(HongbaoConfig config) {
        this.config = config;
    }

    /** @return the worst first */
    public static List<Ailment> examine(HongbaoConfig config) {
        Doctor doctor = new Doctor(config);
        doctor.askServer();
        doctor.askStores();
        return doctor.found.stream()
                .sorted(Comparator.comparing(Ailment::severity))
                .toList();
    }

    private void askServer() {
        ListenAddress at = config.web().management().address();
        String host = at.host().equals("0.0.0.0") ? "127.0.0.1" : at.host();
        URI server = URI.create("http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + at.port() + "/");
        try {
            found.addAll(DoctorRules.readiness(new JsonObject(get(server.resolve("/health/ready")))));
            found.addAll(DoctorRules.numbers(get(server.resolve("/metrics"))));
        } catch (IOException | DecodeException fault) {
            found.add(Ailment.bad(
                    "The server does not answer at " + server + " (management.host, management.port)",
                    "a-server-does-not-answer"));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static String get(URI uri) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri).timeout(ANSWER).build(), BodyHandlers.ofString())
                .body();
    }

    /** The server's own stores end with it. */
    private void askStores() {
        boolean own = config.engine().redis().isEmbedded()
                || config.engine().postgres().isEmbedded();
        if (own && EmbeddedServers.running(config.engine().data().dir()).isEmpty()) {
            found.add(Ailment.well("Its own stores are not asked: they run while the server does"));
            return;
        }
        try (Stores stores = Stores.join(config)) {
            Vertx vertx = Vertx.vertx();
            Pool pool = new Postgres(vertx, stores.addresses().app()).pool("doctor", CONNECTIONS, QUEUE, ANSWER);
            try {
                await(askRedis(vertx, stores.addresses().redisUrl()), "Redis", "redis-does-not-answer");
                await(askPostgres(pool), "Postgres", "postgres-does-not-answer");
            } finally {
                vertx.close().toCompletionStage().toCompletableFuture().join();
            }
        }
    }

    private void await(Future<?> asked, String who, String section) {
        try {
            asked.timeout(2 * ANSWER.toMillis(), TimeUnit.MILLISECONDS)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .join();
        } catch (CompletionException fault) {
            found.add(Ailment.bad(who + " does not answer: " + fault.getCause(), section));
        }
    }

    private Future<Void> askRedis(Vertx vertx, String url) {
        Promise<Void> done = Promise.promise();
        vertx.runOnContext(now -> RedisLinks.open(vertx, url, ANSWER, "doctor")
                .compose(redis -> Future.all(redis.servers().stream()
                                .map(server -> RedisInfo.read(server, "default")
                                        .onSuccess(info ->
                                                found.addAll(DoctorRules.redis(info, System.currentTimeMillis()))))
                                .toList())
                        .eventually(redis::close))
                .<Void>mapEmpty()
                .onComplete(done));
        return done.future();
    }

    private Future<?> askPostgres(Pool pool) {
        return pool.query(SESSIONS)
                .execute()
                .compose(rows -> {
                    Row row = rows.iterator().next();
                    found.addAll(DoctorRules.clock("Postgres", row.getLong("millis"), System.currentTimeMillis()));
                    found.addAll(DoctorRules.postgres(new DoctorRules.Sessions(
                            row.getString("version"),
                            row.getLong("used"),
                            row.getLong("most"),
                            row.getDouble("longest"))));
                    return pool.query(DEAD).execute();
                })
                .compose(rows -> {
                    rows.forEach(row -> found.addAll(DoctorRules.deadRows(new DoctorRules.DeadRows(
                            row.getString("name"), row.getLong("dead"), row.getLong("live")))));
                    return askWork(pool);
                });
    }

    private Future<?> askWork(Pool pool) {
        return Future.all(
                        new ShardOwners(pool).shards(),
                        pool.query(WORK).execute(),
                        new WebhookStore(pool).lag(),
                        Months.missing(pool, OffsetDateTime.now(ZoneOffset.UTC)),
                        Months.others(pool))
                .onSuccess(all -> {
                    List<ShardOwners.Owned> shards = all.resultAt(0);
                    Row row = all.<RowSet<Row>>resultAt(1).iterator().next();
                    found.addAll(DoctorRules.work(new DoctorRules.Work(
                            shards.stream()
                                    .filter(shard -> shard.session() == null)
                                    .count(),
                            row.getLong("aside"),
                            row.getLong("disabled"),
                            all.<WebhookStore.Lag>resultAt(2).seconds())));
                    found.addAll(DoctorRules.months(all.resultAt(3), all.resultAt(4)));
                });
    }
}
