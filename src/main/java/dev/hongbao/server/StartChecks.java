package dev.hongbao.server;

import dev.hongbao.common.config.ClusterTls;
import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.config.ListenTls;
import dev.hongbao.common.config.SecretUrl;
import dev.hongbao.engine.postgres.Postgres;
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
                .forEach((option, file) ->
                        SecretRules.checkPrivate(file).forEach(finding -> findings.add(finding.of(option))));
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

    /** What the configured stores tell of themselves; one that can not be reached is a finding, too. */
    static Future<List<StartFinding>> ofStores(Vertx vertx, StoreAddresses stores, HongbaoConfig config) {
        Promise<List<StartFinding>> redis = Promise.promise();
        if (config.engine().redis().isEmbedded()) {
            redis.complete(List.of());
        } else {
            vertx.runOnContext(now -> ofRedis(vertx, stores, config).onComplete(redis));
        }
        Future<List<StartFinding>> postgres =
                config.engine().postgres().isEmbedded() ? Future.succeededFuture(List.of()) : ofPostgres(vertx, stores);
        return Future.all(redis.future(), postgres)
                .map(all -> Stream.of(redis.future(), postgres)
                        .flatMap(found -> Objects.requireNonNull(found.result()).stream())
                        .toList());
    }

    private static Future<List<StartFinding>> ofRedis(Vertx vertx, StoreAddresses stores, HongbaoConfig config) {
        return RedisLinks.open(vertx, stores.redisUrl(), config.engine().redis().commandTimeout(), "check")
                .compose(redis -> ofServers(
                                redis.servers(),
                                RedisAddress.parse(stores.redisUrl()).kind())
                        .eventually(redis::close))
                .otherwise(fault ->
                        List.of(unreachable("redis.url", "Redis", SecretUrl.redact(stores.redisUrl()), fault)));
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
        Future<List<StartFinding>> info = RedisInfo.read(server, "default").map(told -> RedisRules.check(told, kind));
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

    private static Future<List<StartFinding>> ofPostgres(Vertx vertx, StoreAddresses stores) {
        return new Postgres(vertx, stores.app())
                .connect("check", Postgres.SHORT, Postgres.SHORT)
                .compose(connection -> PostgresRules.read(connection).eventually(connection::close))
                .timeout(POSTGRES.toMillis(), TimeUnit.MILLISECONDS) // also where a line says nothing to a first word
                .map(PostgresRules::check)
                .otherwise(fault -> List.of(
                        unreachable("postgres.url", "Postgres", stores.app().toString(), fault)));
    }

    private static StartFinding unreachable(String option, String store, String address, Throwable fault) {
        String why = fault.getMessage() == null ? fault.getClass().getSimpleName() : fault.getMessage();
        return StartFinding.refuse(
                option + ": " + store + " at " + address + " does not answer: " + SecretUrl.redact(why));
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
