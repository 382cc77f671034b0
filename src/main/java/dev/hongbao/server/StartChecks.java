package dev.hongbao.server;

import dev.hongbao.common.config.ClusterTls;
import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.config.ListenTls;
import dev.hongbao.common.config.SecretUrl;
import dev.hongbao.engine.postgres.Postgres;
import dev.hongbao.engine.postgres.SqlState;
import dev.hongbao.engine.redis.RedisAddress;
import dev.hongbao.engine.redis.RedisFault;
import dev.hongbao.engine.redis.RedisInfo;
import dev.hongbao.engine.redis.RedisLink;
import dev.hongbao.engine.redis.RedisLinks;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is looked at before a server starts: first what this machine tells, before anything is written, then the configured
 * stores, before their schema is touched. The embedded ones are as they have to be.
 */
final class StartChecks {
    private static final Logger LOG = LoggerFactory.getLogger(StartChecks.class);

    /** What Postgres may take to tell of itself. */
    private static final Duration POSTGRES = Duration.ofSeconds(10);

    private StartChecks() {}

    /** Ports, addresses, secrets and where keys come from. Blocks on the disk and on names. */
    static List<StartFinding> ofMachine(HongbaoConfig config) {
        List<StartFinding> findings = new ArrayList<>();
        findings.addAll(ListenRules.ports(config));
        findings.addAll(ListenRules.exposure(config));
        findings.addAll(TokenRules.check(config.web().token()));
        privateFiles(config)
                .forEach((option, file) -> SecretRules.checkPrivate(file, SecretRules.MOUNTED)
                        .forEach(finding -> findings.add(finding.of(option))));
        return findings;
    }

    /** Each by its option; those of tokens have rules of their own. */
    private static Map<String, Path> privateFiles(HongbaoConfig config) {
        Map<String, Path> files = new LinkedHashMap<>();
        put(files, "redis.url-file", config.engine().redis().url());
        put(files, "postgres.url-file", config.engine().postgres().url());
        put(files, "postgres.owner-url-file", config.engine().postgres().ownerUrl());
        put(files, "http.tls-key", config.web().http().address().tls());
        put(files, "management.tls-key", config.web().management().address().tls());
        ClusterTls cluster = config.engine().cluster().tls();
        if (cluster != null) {
            files.put("cluster.tls-key", cluster.key());
        }
        return files;
    }

    private static void put(Map<String, Path> files, String option, @Nullable SecretUrl url) {
        Path file = url == null ? null : url.file();
        if (file != null) {
            files.put(option, file);
        }
    }

    private static void put(Map<String, Path> files, String option, @Nullable ListenTls tls) {
        if (tls != null) {
            files.put(option, tls.key());
        }
    }

    /**
     * What the configured stores tell of themselves. One that is away is waited for; when it stays away, that is a finding, too. A store that refuses
     * the start ends the wait for the other one.
     *
     * @param limit of the wait
     */
    static Future<List<StartFinding>> ofStores(
            Vertx vertx, StoreAddresses stores, HongbaoConfig config, Duration limit) {
        StoreWait wait = new StoreWait(vertx, limit);
        Promise<List<StartFinding>> redis = Promise.promise();
        if (config.engine().redis().isEmbedded()) {
            redis.complete(List.of());
        } else {
            vertx.runOnContext(now -> ofRedis(vertx, stores, config, wait).onComplete(redis));
        }
        Future<List<StartFinding>> postgres = config.engine().postgres().isEmbedded()
                ? Future.succeededFuture(List.of())
                : ofPostgres(vertx, stores, config, wait);
        return firstRefusalOrAll(redis.future(), postgres).eventually(() -> {
            wait.close();
            return Future.succeededFuture();
        });
    }

    private static Future<List<StartFinding>> firstRefusalOrAll(
            Future<List<StartFinding>> one, Future<List<StartFinding>> other) {
        Promise<List<StartFinding>> found = Promise.promise();
        for (Future<List<StartFinding>> each : List.of(one, other)) {
            each.onSuccess(findings -> {
                if (findings.stream().anyMatch(StartFinding::refuses)) {
                    found.tryComplete(findings);
                }
            });
        }
        Future.all(one, other)
                .map(all -> Stream.of(one, other)
                        .flatMap(each -> Objects.requireNonNull(each.result()).stream())
                        .toList())
                .onSuccess(found::tryComplete)
                .onFailure(found::tryFail);
        return found.future();
    }

    private static Future<List<StartFinding>> ofRedis(
            Vertx vertx, StoreAddresses stores, HongbaoConfig config, StoreWait wait) {
        StoreWait.Store store =
                new StoreWait.Store("redis.url", "Redis at " + SecretUrl.redact(stores.redisUrl()), RedisFault::isAway);
        return wait.answer(
                        store,
                        () -> RedisLinks.open(
                                        vertx,
                                        stores.redisUrl(),
                                        config.engine().redis().commandTimeout(),
                                        "check")
                                .compose(redis -> ofServers(
                                                redis.servers(),
                                                RedisAddress.parse(stores.redisUrl())
                                                        .kind())
                                        .eventually(redis::close)))
                .otherwise(fault -> List.of(StartFinding.refuse(store.doesNotAnswer(fault))));
    }

    /** What a node of a cluster that is away may tell is not waited for, as long as another one answers. */
    private static Future<List<StartFinding>> ofServers(List<RedisLink> servers, RedisAddress.Kind kind) {
        List<Future<List<StartFinding>>> asked =
                servers.stream().map(server -> ofServer(server, kind)).toList();
        return Future.join(asked).transform(done -> {
            if (asked.stream().noneMatch(Future::succeeded)) {
                return Future.failedFuture(done.cause());
            }
            return Future.succeededFuture(asked.stream()
                    .flatMap(server -> server.succeeded()
                            ? server.result().stream()
                            : Stream.of(
                                    StartFinding.warn("redis.url: a master of this Redis Cluster does not answer, and"
                                            + " its shards are not served: "
                                            + server.cause().getMessage())))
                    .distinct()
                    .toList());
        });
    }

    private static Future<List<StartFinding>> ofServer(RedisLink server, RedisAddress.Kind kind) {
        Future<List<StartFinding>> info = RedisInfo.read(server, "default")
                .compose(RedisInfo::whenLoaded)
                .map(told -> RedisRules.check(told, kind));
        return kind != RedisAddress.Kind.CLUSTER
                ? info
                : info.compose(found -> server.send(
                                Request.cmd(Command.CONFIG).arg("GET").arg(RedisRules.FULL_COVERAGE))
                        .map(told -> told == null || told.get(RedisRules.FULL_COVERAGE) == null
                                ? ""
                                : told.get(RedisRules.FULL_COVERAGE).toString())
                        // Hosted ones forbid CONFIG.
                        .recover(fault -> RedisFault.is(fault, RedisFault.Kind.ERROR)
                                ? Future.succeededFuture("")
                                : Future.failedFuture(fault))
                        .map(told -> Stream.concat(found.stream(), RedisRules.checkFullCoverage(told).stream())
                                .toList()));
    }

    private static Future<List<StartFinding>> ofPostgres(
            Vertx vertx, StoreAddresses stores, HongbaoConfig config, StoreWait wait) {
        StoreWait.Store store = new StoreWait.Store("postgres.url", "Postgres at " + stores.app(), SqlState::isAway);
        Postgres postgres = new Postgres(vertx, stores.app());
        return wait.answer(
                        store,
                        () -> postgres.connect("check", Postgres.SHORT, Postgres.SHORT)
                                .compose(connection ->
                                        PostgresRules.read(connection).eventually(connection::close))
                                // also where a line says nothing to a first word
                                .timeout(POSTGRES.toMillis(), TimeUnit.MILLISECONDS))
                .map(settings -> PostgresRules.check(settings, Pools.connections(config)))
                .otherwise(fault -> List.of(StartFinding.refuse(store.doesNotAnswer(fault))));
    }

    /**
     * Writes every warning into the log.
     *
     * @throws StartRefusedException when any of them refuses
     */
    static void enforce(List<StartFinding> findings) throws StartRefusedException {
        List<String> reasons = new ArrayList<>();
        for (StartFinding finding : findings) {
            if (finding.refuses()) {
                reasons.add(finding.text());
            } else {
                LOG.warn(finding.text());
            }
        }
        if (!reasons.isEmpty()) {
            throw new StartRefusedException(reasons);
        }
    }
}
