package dev.hongbao.doctor;

import dev.hongbao.access.TokenTrust;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.SecretUrl;
import dev.hongbao.config.WebConfig.TokenConfig;
import dev.hongbao.doctor.Check.Diagnosis;
import dev.hongbao.doctor.MachineChecks.OpenFiles;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.postgres.Postgres;
import dev.hongbao.store.postgres.SqlState;
import dev.hongbao.store.redis.RedisAddress;
import dev.hongbao.store.redis.RedisFault;
import dev.hongbao.store.redis.RedisLink;
import dev.hongbao.store.redis.RedisLinks;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgConnection;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the checks. A start checks this machine, and the configured stores before it changes their schema; embedded stores need none. The
 * command {@code doctor} runs all. Stateless.
 */
public final class Checks {
    private static final Logger LOG = LoggerFactory.getLogger(Checks.class);

    private static final Duration POSTGRES = Duration.ofSeconds(10);

    private Checks() {}

    /** Examines a server and its stores for an operator, see {@link Doctor}. Blocks. @return the worst first */
    public static List<Diagnosis> examine(HongbaoConfig config) {
        return Doctor.examine(config);
    }

    /** Checks this machine: ports, addresses, secrets and where keys come from. Blocks on the disk and on names. */
    public static List<Diagnosis> ofMachine(HongbaoConfig config) {
        return MachineChecks.beforeStart(config);
    }

    /** Checks a file with a secret. @throws IOException with the first finding that refuses */
    public static void requireSecret(Path file) throws IOException {
        for (Diagnosis finding : MachineChecks.checkSecret(file)) {
            if (finding.refuses()) {
                throw new IOException(finding.text());
            }
        }
    }

    /** The configured connections, or as many as the process' limit of open files allows. */
    public static int connections(int configured) {
        return OpenFiles.atMost(configured);
    }

    /**
     * Checks the configured stores. It waits for a store that is down; one that stays down is a finding, too. A store that refuses the start ends the
     * wait for the other one.
     *
     * @param connections that this server may open to Postgres
     * @param limit of the wait
     */
    public static Future<List<Diagnosis>> ofStores(
            Vertx vertx, StoreAddresses stores, HongbaoConfig config, int connections, Duration limit) {
        StoreWait wait = new StoreWait(vertx, limit);
        Promise<List<Diagnosis>> redis = Promise.promise();
        if (config.engine().redis().isEmbedded()) {
            redis.complete(List.of());
        } else {
            vertx.runOnContext(now -> ofRedis(vertx, stores, config, wait).onComplete(redis));
        }
        Future<List<Diagnosis>> postgres = config.engine().postgres().isEmbedded()
                ? Future.succeededFuture(List.of())
                : ofPostgres(vertx, stores, connections, wait)
                        .compose(found -> found.stream().anyMatch(Diagnosis::refuses)
                                ? Future.succeededFuture(found)
                                : ofOwner(vertx, stores, wait)
                                        .map(owner -> Stream.concat(found.stream(), owner.stream())
                                                .toList()));
        return firstRefusalOrAll(redis.future(), postgres).eventually(() -> {
            wait.close();
            return Future.succeededFuture();
        });
    }

    private static Future<List<Diagnosis>> firstRefusalOrAll(
            Future<List<Diagnosis>> one, Future<List<Diagnosis>> other) {
        Promise<List<Diagnosis>> found = Promise.promise();
        for (Future<List<Diagnosis>> each : List.of(one, other)) {
            each.onSuccess(findings -> {
                if (findings.stream().anyMatch(Diagnosis::refuses)) {
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

    private static Future<List<Diagnosis>> ofRedis(
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
                                                        .kind(),
                                                stores.namespace())
                                        .eventually(redis::close)))
                .otherwise(fault -> List.of(Check.REDIS.found(store.doesNotAnswer(fault))));
    }

    /** While a node of a cluster answers, the checks do not wait for a node that is down. */
    private static Future<List<Diagnosis>> ofServers(
            List<RedisLink> servers, RedisAddress.Kind kind, @Nullable String namespace) {
        List<Future<List<Diagnosis>>> asked = servers.stream()
                .map(server -> RedisChecks.ask(server, kind, namespace))
                .toList();
        return Future.join(asked).transform(done -> {
            if (asked.stream().noneMatch(Future::succeeded)) {
                return Future.failedFuture(done.cause());
            }
            return Future.succeededFuture(asked.stream()
                    .flatMap(server -> server.succeeded()
                            ? server.result().stream()
                            : Stream.of(Check.REDIS_MASTER.found(
                                    "redis.url: a master of this Redis Cluster does not answer, and"
                                            + " its shards are not served: "
                                            + server.cause().getMessage())))
                    .filter(each -> each.check().start != Check.Start.NOT_ASKED)
                    .distinct()
                    .toList());
        });
    }

    private static Future<List<Diagnosis>> ofPostgres(
            Vertx vertx, StoreAddresses stores, int connections, StoreWait wait) {
        StoreWait.Store store = new StoreWait.Store("postgres.url", "Postgres at " + stores.app(), SqlState::isAway);
        Postgres postgres = new Postgres(vertx, stores.app());
        return wait.answer(
                        store,
                        () -> postgres.connect("check", Postgres.SHORT, Postgres.SHORT)
                                .compose(connection ->
                                        PostgresChecks.read(connection).eventually(connection::close))
                                // also for a peer that accepts the connection and stays silent
                                .timeout(POSTGRES.toMillis(), TimeUnit.MILLISECONDS))
                .map(settings -> PostgresChecks.check(settings, connections))
                .otherwise(fault -> List.of(Check.POSTGRES.found(store.doesNotAnswer(fault))));
    }

    /** Connects as the owner of the tables, if that is another role. */
    private static Future<List<Diagnosis>> ofOwner(Vertx vertx, StoreAddresses stores, StoreWait wait) {
        if (stores.owner().equals(stores.app())) {
            return Future.succeededFuture(List.of());
        }
        StoreWait.Store store =
                new StoreWait.Store("postgres.owner-url", "Postgres at " + stores.owner(), SqlState::isAway);
        Postgres postgres = new Postgres(vertx, stores.owner());
        return wait.answer(
                        store,
                        () -> postgres.connect("check", Postgres.SHORT, Postgres.SHORT)
                                .compose(PgConnection::close)
                                .timeout(POSTGRES.toMillis(), TimeUnit.MILLISECONDS))
                .map(closed -> List.<Diagnosis>of())
                .otherwise(fault -> List.of(Check.POSTGRES.found(store.doesNotAnswer(fault))));
    }

    /**
     * Writes every warning into the log.
     *
     * @throws StartRefusedException if one of them refuses
     */
    public static void enforce(List<Diagnosis> findings) throws StartRefusedException {
        List<String> reasons = new ArrayList<>();
        for (Diagnosis finding : findings) {
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

    /** Refuses a start, with every reason. Without a stack trace: it is for the operator. */
    public static final class StartRefusedException extends Exception {
        private static final long serialVersionUID = 1L;

        StartRefusedException(List<String> reasons) {
            super(reasons.size() == 1 ? reasons.get(0) : "\n  " + String.join("\n  ", reasons), null, false, false);
        }
    }

    /**
     * Servers of one database must accept the same tokens, or a user passes one server and fails at the next. During a change of keys, servers
     * with a common key may differ in others: that warns. Without a common key, one of them has a wrong secret: that refuses. Public keys may
     * all change at once, so they only warn.
     *
     * @param own fingerprints of this server's keys
     * @param servers the fingerprints of each live server, perhaps with this one
     */
    public static List<Diagnosis> ofKeys(TokenConfig token, Set<Integer> own, List<Set<Integer>> servers) {
        List<Set<Integer>> different =
                servers.stream().filter(keys -> !keys.equals(own)).toList();
        List<Set<Integer>> disjoint = different.stream()
                .filter(keys -> Collections.disjoint(keys, own))
                .toList();
        if (different.isEmpty()) {
            return List.of();
        }
        boolean symmetric = token.algorithm().isSymmetric();
        String option = symmetric ? "token.secret-file: " : "token.algorithm: ";
        if (!symmetric || disjoint.isEmpty()) {
            return List.of(Check.OTHER_KEYS.found(option + others(different.get(0), own)
                    + "unless keys are being changed, give both servers the same ones"));
        }
        return List.of(Check.FOREIGN_KEYS.found(option
                + others(disjoint.get(0), own)
                + (token.secretFile() == null
                        ? "it is not set, so that this server made a key of its own; give both the same file"
                        : "give both the same file; to change the secret, name the other one in"
                                + " token.further-secret-files meanwhile")));
    }

    private static String others(Set<Integer> theirs, Set<Integer> own) {
        return "another server of this database believes other tokens: its keys' fingerprint is "
                + TokenTrust.text(theirs) + ", ours is " + TokenTrust.text(own) + "; ";
    }

    /**
     * Repeats a question to a configured store until it answers: after a power cut a server may start before its stores, and a killed store reads its log
     * back first. Each store gets one question at a time. A signal to stop the process ends the wait. Thread-safe.
     */
    static final class StoreWait implements AutoCloseable {
        /** The pause between two questions doubles each time, up to {@link #LAST_PAUSE_MILLIS}. */
        private static final long FIRST_PAUSE_MILLIS = 250;

        private static final long LAST_PAUSE_MILLIS = 4_000;

        private static final Duration SAID_AGAIN = Duration.ofMinutes(1);

        private final Vertx vertx;
        private final Duration limit;
        private final long begunNanos = System.nanoTime();
        private final Promise<Void> over = Promise.promise();
        private final Thread onExit = new Thread(this::stopping, "hongbao-start-is-stopped");

        /**
         * A store.
         *
         * @param option that names it
         * @param name for the log, with its address and without a password
         * @param isAway whether a fault may pass by itself; any other one ends the wait
         */
        record Store(String option, String name, Predicate<Throwable> isAway) {
            /** @return one sentence, without secrets */
            String doesNotAnswer(Throwable fault) {
                String why = fault.getMessage() == null ? fault.getClass().getSimpleName() : fault.getMessage();
                // A refusal, such as a wrong password, is an answer; the end of the wait is none.
                boolean isSilent = fault instanceof CancellationException || isAway.test(fault);
                return option + ": " + name + (isSilent ? " does not answer: " : " refuses: ") + SecretUrl.redact(why);
            }
        }

        /** Begins now. @param limit for all stores; the last question may end later */
        StoreWait(Vertx vertx, Duration limit) {
            this.vertx = vertx;
            this.limit = limit;
            try {
                Runtime.getRuntime().addShutdownHook(onExit);
            } catch (IllegalStateException exiting) {
                stopping();
            }
        }

        private void stopping() {
            end("the process got a signal to stop");
        }

        private void end(String why) {
            over.tryFail(new CancellationException(why));
        }

        /**
         * Asks on the current context, again and again while the store is away.
         *
         * @param question asks once, and fails within some seconds
         * @return what the store answered; fails with the latest fault
         */
        <T> Future<T> answer(Store store, Supplier<Future<T>> question) {
            Asking<T> asking = new Asking<>(store, question);
            over.future().onFailure(asking.answer::tryFail);
            asking.context.runOnContext(now -> asking.ask());
            return asking.answer.future();
        }

        /** Ends all waits. Idempotent. */
        @Override
        public void close() {
            end("not waited for");
            try {
                Runtime.getRuntime().removeShutdownHook(onExit);
            } catch (IllegalStateException exiting) {
                LOG.debug("the process ends, and the hook with it");
            }
        }

        /** Belongs to its context. */
        private final class Asking<T> {
            private final Store store;
            private final Supplier<Future<T>> question;
            private final Promise<T> answer = Promise.promise();
            private final Context context = vertx.getOrCreateContext();
            private long pauseMillis = FIRST_PAUSE_MILLIS;
            private long saidNanos;
            private boolean said;

            Asking(Store store, Supplier<Future<T>> question) {
                this.store = store;
                this.question = question;
            }

            /** A cut connection fails on another thread. */
            private void ask() {
                Future.succeededFuture()
                        .compose(now -> question.get())
                        .onComplete(asked -> context.runOnContext(now -> heard(asked)));
            }

            private void heard(AsyncResult<T> asked) {
                Duration waited = Duration.ofNanos(System.nanoTime() - begunNanos);
                if (asked.succeeded()) {
                    if (said) {
                        LOG.info("{}: {} answers after {} s", store.option, store.name, waited.toSeconds());
                    }
                    answer.tryComplete(asked.result());
                } else if (!store.isAway.test(asked.cause()) || waited.compareTo(limit) > 0) {
                    answer.tryFail(asked.cause());
                } else if (!answer.future().isComplete()) {
                    say(asked.cause(), waited);
                    vertx.setTimer(pauseMillis, later -> ask());
                    pauseMillis = Math.min(LAST_PAUSE_MILLIS, 2 * pauseMillis);
                }
            }

            /** At once, since the option may be mistyped, and then once a minute. */
            private void say(Throwable fault, Duration waited) {
                long nanos = System.nanoTime();
                if (!said || nanos - saidNanos > SAID_AGAIN.toNanos()) {
                    said = true;
                    saidNanos = nanos;
                    LOG.warn(
                            "{}. The start waits for it, up to {} s more",
                            store.doesNotAnswer(fault),
                            limit.minus(waited).toSeconds());
                }
            }
        }
    }
}
