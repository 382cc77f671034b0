package dev.hongbao.doctor;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.ListenAddress;
import dev.hongbao.doctor.Check.Diagnosis;
import dev.hongbao.engine.Installation;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.ShardOwners;
import dev.hongbao.engine.ShardStore;
import dev.hongbao.engine.ShardStore.ShardRow;
import dev.hongbao.reconcile.LatestRuns;
import dev.hongbao.store.Stores;
import dev.hongbao.store.postgres.Months;
import dev.hongbao.store.postgres.Postgres;
import dev.hongbao.store.redis.RedisAddress;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.webhook.Outbox;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.pgclient.PgConnection;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Examines a server through its management port, and its stores, for an operator at night. It changes and starts nothing, and waits some seconds
 * for each answer. Blocking.
 */
final class Doctor {
    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final double NEARLY_FULL = 0.8;
    private static final long OLD_ENTRY_SECONDS = 10;
    private static final int CONNECTIONS = 2;
    private static final int QUEUE = 20;

    /** Every role sees the number of connections. Only a role with {@code pg_read_all_stats} sees the transactions of other roles. */
    private static final String SESSIONS = """
        select current_setting('server_version') as version,
               (select sum(numbackends) from pg_stat_database)::bigint as used,
               current_setting('max_connections')::bigint as most,
               coalesce((select max(extract(epoch from now() - xact_start)) from pg_stat_activity
                         where datname = current_database() and backend_type = 'client backend'
                           and state <> 'idle' and pid <> pg_backend_pid()), 0)::float8 as longest,
               case when pg_has_role(current_user, 'pg_read_all_stats', 'usage') then '' else quote_ident(current_user) end as blind,
               (extract(epoch from clock_timestamp()) * 1000)::bigint as millis
        """;

    private static final String DEAD = """
        select relname::text as name, n_dead_tup as dead, n_live_tup as live
        from pg_stat_user_tables where n_dead_tup > n_live_tup order by n_dead_tup desc, relname limit 1
        """;

    private static final String WORK = """
        select (select count(*) from quarantine_unit) as aside,
               (select count(*) from webhook where disabled_at is not null and reason <> 'paused') as disabled,
               (select extract(epoch from now() - min(installed_on))::float8 from flyway_schema_history) as age
        """;

    /** Positions are null to a role without {@code pg_read_all_stats}. */
    private static final String REPLICAS = """
        select count(*) as known, count(replay_lsn) as seen,
               coalesce(max(case when not pg_is_in_recovery() then pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) end), 0)::bigint as behind,
               coalesce(max(extract(epoch from replay_lag)), 0)::float8 as late
        from pg_stat_replication
        """;

    private final HongbaoConfig config;
    private final List<Diagnosis> found = new ArrayList<>();

    private Doctor(HongbaoConfig config) {
        this.config = config;
    }

    /** @return the worst first */
    static List<Diagnosis> examine(HongbaoConfig config) {
        Doctor doctor = new Doctor(config);
        doctor.askServer();
        doctor.askStores();
        doctor.lookAtDisk();
        return doctor.found.stream()
                .sorted(Comparator.comparing(Diagnosis::severity))
                .toList();
    }

    private void askServer() {
        ListenAddress at = config.web().management().address();
        ListenAddress.Tls tls = at.tls();
        String host = at.host().equals("0.0.0.0") ? "127.0.0.1" : at.host();
        URI server = URI.create((tls == null ? "http://" : "https://") + (host.contains(":") ? "[" + host + "]" : host)
                + ":" + at.port() + "/");
        try {
            HttpClient.Builder client = HttpClient.newBuilder();
            if (tls != null) {
                client.sslContext(PinnedCertificate.context(tls.certificate()));
            }
            HttpClient asking = client.build();
            found.addAll(readiness(new JsonObject(get(asking, server.resolve("/health/ready")))));
            found.addAll(numbers(get(asking, server.resolve("/metrics"))));
        } catch (IOException | DecodeException fault) {
            found.add(Check.SERVER.found(
                    "The server does not answer at " + server + " (management.host, management.port)"));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static String get(HttpClient client, URI uri) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(uri).timeout(ANSWER).build(), BodyHandlers.ofString())
                .body();
    }

    /** Asks each store by itself. Embedded stores run only with their server. */
    private void askStores() {
        Vertx vertx = Vertx.vertx();
        try {
            Stores.redisAtWork(config)
                    .ifPresentOrElse(url -> await(askRedis(vertx, url), "Redis", Check.REDIS), () -> notAsked("Redis"));
            Stores.postgresAtWork(config)
                    .ifPresentOrElse(
                            address -> await(askPostgres(new Postgres(vertx, address)), "Postgres", Check.POSTGRES),
                            () -> notAsked("Postgres"));
            Stores.redisAtWork(config)
                    .ifPresent(redis -> Stores.postgresAtWork(config)
                            .ifPresent(postgres -> askBoth(vertx, redis, new Postgres(vertx, postgres))));
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    private void notAsked(String store) {
        found.add(Diagnosis.well("Its own " + store + " is not asked: it runs while the server does"));
    }

    /** Checks the disk of embedded stores. Configured stores have their own monitoring. */
    private void lookAtDisk() {
        boolean own = config.engine().redis().isEmbedded()
                || config.engine().postgres().isEmbedded();
        Path data = config.engine().dataDir();
        if (own && Files.isDirectory(data)) {
            try {
                FileStore disk = Files.getFileStore(data);
                found.addAll(MachineChecks.disk(disk.getUsableSpace(), disk.getTotalSpace()));
            } catch (IOException unknown) {
                found.add(Check.DISK.found("The data directory cannot be read: " + unknown));
            }
        }
    }

    private void await(Future<?> asked, String who, Check check) {
        try {
            asked.timeout(2 * ANSWER.toMillis(), TimeUnit.MILLISECONDS)
                    .toCompletionStage()
                    .toCompletableFuture()
                    .join();
        } catch (CompletionException fault) {
            found.add(check.found(who + " does not answer: " + fault.getCause()));
        }
    }

    private Future<Void> askRedis(Vertx vertx, String url) {
        Promise<Void> done = Promise.promise();
        vertx.runOnContext(now -> RedisLinks.open(vertx, url, ANSWER, "Redis")
                .compose(redis -> Future.join(redis.servers().stream()
                                .map(server ->
                                        askRedis(server, RedisAddress.parse(url).kind()))
                                .toList())
                        .transform(asked -> redis.close()))
                .onComplete(done));
        return done.future();
    }

    /** Checks that the servers of this Postgres work in this Redis. A silent store is a finding of its own. */
    private void askBoth(Vertx vertx, String redisUrl, Postgres postgres) {
        Promise<Boolean> asked = Promise.promise();
        Pool pool = postgres.pool("doctor", CONNECTIONS, QUEUE, ANSWER);
        vertx.runOnContext(now -> Future.all(
                        new ShardOwners(pool).servers(),
                        Installation.read(pool, config.engine().redis().namespace())
                                .compose(installation -> new ShardStore(pool, installation).readAll()))
                .compose(read -> read.<List<?>>resultAt(0).isEmpty()
                        ? Future.succeededFuture(true)
                        : RedisLinks.open(vertx, redisUrl, ANSWER, "Redis")
                                .compose(redis -> ShardRow.isAnyIn(Loop.of(vertx), redis, read.resultAt(1))
                                        .eventually(redis::close)))
                .otherwise(true)
                .onComplete(asked));
        await(
                asked.future().onSuccess(same -> {
                    if (!same) {
                        found.add(Check.ANOTHER_REDIS.found(
                                "The servers of this Postgres work in another Redis, or under another namespace (redis.url,"
                                        + " redis.namespace); or their log tells why no shard recovers"));
                    }
                }),
                "Redis",
                Check.REDIS);
    }

    /** Of several servers, one may be down while the others serve. */
    private Future<?> askRedis(RedisLink server, RedisAddress.Kind kind) {
        return RedisChecks.ask(server, kind, config.engine().redis().namespace())
                .onSuccess(found::addAll)
                .onFailure(fault -> found.add(Check.REDIS.found(server + " does not answer: " + fault.getMessage())));
    }

    /** Connects once without a pool: a pool hides why a connection fails. */
    private Future<?> askPostgres(Postgres postgres) {
        return postgres.connect("doctor", ANSWER, ANSWER)
                .compose(PgConnection::close)
                .compose(reached -> askPostgres(postgres.pool("doctor", CONNECTIONS, QUEUE, ANSWER)));
    }

    /** The settings, without the limit of connections, which has a line of its own. */
    private Future<?> askSettings(Pool pool) {
        return PostgresChecks.read(pool)
                .onSuccess(settings -> found.addAll(PostgresChecks.check(settings, 0)))
                .compose(read -> pool.query("show data_checksums").execute())
                .onSuccess(rows -> found.addAll(
                        PostgresChecks.checksums(rows.iterator().next().getString(0))));
    }

    private Future<?> askPostgres(Pool pool) {
        return askSettings(pool)
                .compose(asked -> pool.query(SESSIONS).execute())
                .compose(rows -> {
                    Row row = rows.iterator().next();
                    found.addAll(MachineChecks.clock("Postgres", row.getLong("millis"), System.currentTimeMillis()));
                    found.addAll(PostgresChecks.sessions(
                            row.getString("version"),
                            row.getLong("used"),
                            row.getLong("most"),
                            row.getDouble("longest"),
                            // An embedded Postgres has no other roles.
                            config.engine().postgres().isEmbedded() ? "" : row.getString("blind")));
                    return pool.query(DEAD).execute();
                })
                .compose(rows -> {
                    rows.forEach(row -> found.addAll(
                            PostgresChecks.deadRows(row.getString("name"), row.getLong("dead"), row.getLong("live"))));
                    return askWork(pool);
                });
    }

    private Future<?> askWork(Pool pool) {
        return Future.all(List.of(
                        new ShardOwners(pool).shards(),
                        pool.query(WORK).execute(),
                        Outbox.lagSeconds(pool),
                        new LatestRuns(pool).read(),
                        pool.query(REPLICAS).execute(),
                        Months.missing(pool, OffsetDateTime.now(ZoneOffset.UTC)),
                        Months.others(pool)))
                .onSuccess(all -> {
                    List<ShardOwners.Owned> shards = all.resultAt(0);
                    Row row = all.<RowSet<Row>>resultAt(1).iterator().next();
                    found.addAll(PostgresChecks.work(
                            shards.stream()
                                    .filter(shard -> shard.session() == null)
                                    .count(),
                            row.getLong("aside"),
                            row.getLong("disabled"),
                            all.<Double>resultAt(2)));
                    found.addAll(PostgresChecks.books(
                            all.resultAt(3), config.engine().reconcileEvery(), row.getDouble("age")));
                    Row replicas = all.<RowSet<Row>>resultAt(4).iterator().next();
                    found.addAll(PostgresChecks.replicas(
                            replicas.getLong("known"),
                            replicas.getLong("seen"),
                            replicas.getLong("behind"),
                            replicas.getDouble("late")));
                    found.addAll(PostgresChecks.months(all.resultAt(5), all.resultAt(6)));
                });
    }

    /** @param ready the answer of {@code /health/ready} */
    static List<Diagnosis> readiness(JsonObject ready) {
        List<Diagnosis> found = new ArrayList<>();
        JsonObject since = ready.getJsonObject("since", new JsonObject());
        for (Object each : ready.getJsonArray("checks", new JsonArray())) {
            JsonObject check = (JsonObject) each;
            String name = check.getString("name");
            if (!"UP".equals(check.getString("status"))) {
                String reason = check.getString("reason");
                String what = "The server is not ready: " + name + ", since " + since.getString(name, "now")
                        + (reason == null ? "" : ": " + reason);
                Check asked = Check.ofReady(name);
                found.add(asked.found(asked == Check.STAYING ? what + ": it was told to stop" : what));
            }
        }
        if (found.isEmpty()) {
            found.add(
                    "UP".equals(ready.getString("status"))
                            ? Diagnosis.well("The server is ready")
                            : Check.SERVER.found("The server is not ready; its log says why"));
        }
        return found;
    }

    /** @param scrape the answer of {@code /metrics} */
    static List<Diagnosis> numbers(String scrape) {
        List<Diagnosis> found = new ArrayList<>();
        double oldest = most(scrape, "hongbao_shard_oldest_unsettled_seconds");
        if (oldest > OLD_ENTRY_SECONDS) {
            found.add(Check.UNSETTLED.found("A claim waits for its settlement for " + Math.round(oldest) + " s"));
        }
        // Idle connections make room, so a full limit of connections is healthy.
        double fill = most(scrape, "hongbao_queue_fill_ratio(?!\\{queue=\"connections\")");
        if (fill > NEARLY_FULL) {
            found.add(Check.QUEUE.found("A queue of the server is " + percent(fill) + " full"));
        }
        if (most(scrape, "hongbao_journal_voids_total") > 0) {
            found.add(Check.VOIDS.found("Accepted claims were void since the server started"));
        }
        if (most(scrape, "hongbao_webhook_failing") > 0) {
            found.add(Check.WEBHOOK_FAILS.found("A webhook fails"));
        }
        found.add(Diagnosis.well("Oldest unsettled claim " + Math.round(oldest) + " s, fullest queue " + percent(fill)
                + ", servers " + Math.round(most(scrape, "hongbao_server_members"))));
        return found;
    }

    /** The largest value; 0 without one. @param metric a pattern */
    private static double most(String scrape, String metric) {
        return Pattern.compile("(?m)^" + metric + "(?:\\{[^}\\n]*})? (\\S+)$")
                .matcher(scrape)
                .results()
                .mapToDouble(sample -> Double.parseDouble(sample.group(1)))
                .max()
                .orElse(0);
    }

    private static String percent(double part) {
        return Math.round(100 * part) + " %";
    }

    /** Trusts exactly one certificate, whatever its signer and its names: the doctor asks the server on its own machine. */
    private static final class PinnedCertificate extends X509ExtendedTrustManager {
        private final Certificate known;

        private PinnedCertificate(Certificate known) {
            this.known = known;
        }

        /** @param pem its first certificate is the server's @throws IOException if it is unreadable */
        static SSLContext context(Path pem) throws IOException {
            try (InputStream in = Files.newInputStream(pem)) {
                Certificate known = CertificateFactory.getInstance("X.509").generateCertificate(in);
                SSLContext context = SSLContext.getInstance("TLS");
                context.init(null, new TrustManager[] {new PinnedCertificate(known)}, null);
                return context;
            } catch (GeneralSecurityException unreadable) {
                throw new IOException("cannot read the certificate " + pem, unreadable);
            }
        }

        private void check(X509Certificate[] chain) throws CertificateException {
            if (!chain[0].equals(known)) {
                throw new CertificateException("the server shows another certificate than the configured one");
            }
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
                throws CertificateException {
            check(chain);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
                throws CertificateException {
            check(chain);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            check(chain);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
                throws CertificateException {
            check(chain);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
                throws CertificateException {
            check(chain);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            check(chain);
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
