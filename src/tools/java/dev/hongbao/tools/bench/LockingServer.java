package dev.hongbao.tools.bench;

import dev.hongbao.access.TokenTrust;
import dev.hongbao.access.Tokens;
import dev.hongbao.access.Tokens.TokenVerdict;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.packet.Claim;
import dev.hongbao.packet.PacketBodies;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.tools.local.Jdbc;
import dev.hongbao.values.Caller;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.net.URI;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

/**
 * The usual way to settle a claim, article 3's without its defects: a lock of the packet in Redis and a transaction in Postgres for each
 * claim. It has our HTTP call, our tokens and our answer, but no idempotency, no feed, no webhooks, no ledger.
 *
 * <p>Event loops verify tokens; a pool of blocking threads claims, each with its own connections to both stores. Threads first queue for a
 * lock of this process, as Redisson's do, so that they do not poll Redis.
 */
final class LockingServer implements AutoCloseable {
    /** Any free port, the same for all event loops, as the server does. */
    private static final int SHARED_FREE_PORT = -1;

    private static final String TABLES = """
        drop schema if exists locking cascade;
        create schema locking;
        create table locking.packet (id uuid primary key, total bigint not null, shares int not null, amount bigint not null);
        create table locking.wallet (member text primary key, balance bigint not null);
        create table locking.claim (packet uuid not null, member text not null, slot int not null, amount bigint not null,
            at timestamptz not null default now(), primary key (packet, member))""";

    private static final String SEND = """
        insert into locking.packet
        select gen_random_uuid(), 100 * shares, shares, 100 * shares from generate_series(1, %d), (select %d as shares) shares
        returning id""";

    private static final String UNLOCK =
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

    private static final Duration LOCK = Duration.ofSeconds(10);
    private static final long POLL_NANOS = 1_000_000;
    private static final String PATH = "/v1/packets/";

    private final PostgresAddress postgres;
    private final URI redis;
    private final Tokens tokens;
    private final Vertx vertx = Vertx.vertx(new VertxOptions().setPreferNativeTransport(true));
    private final WorkerExecutor threads;
    private final BlockingQueue<Client> clients = new LinkedBlockingQueue<>();
    private final Map<PacketId, ReentrantLock> locks = new ConcurrentHashMap<>();
    private volatile int port;

    /** Starts it on the stores of our server. @param connections to each store */
    LockingServer(HongbaoConfig config, StoreAddresses stores, int connections) throws Exception {
        postgres = stores.owner();
        redis = URI.create(stores.redisUrl());
        tokens = TokenTrust.open(config, file -> {}, Clock.systemUTC()).tokens();
        threads = vertx.createSharedWorkerExecutor("locking", connections);
        Jdbc.execute(postgres, TABLES);
        for (int i = 0; i < connections; i++) {
            clients.add(new Client());
        }
        BenchBed.await(vertx.deployVerticle(
                Face::new,
                new DeploymentOptions().setInstances(config.web().http().effectiveEventLoops())));
    }

    int port() {
        return port;
    }

    List<PacketId> send(int packets, int shares) throws SQLException {
        return Jdbc.rows(postgres, SEND.formatted(packets, shares)).stream()
                .map(row -> new PacketId(UUID.fromString(row.get(0))))
                .toList();
    }

    /** One event loop's server. */
    private final class Face extends VerticleBase {
        @Override
        public Future<?> start() {
            return vertx.createHttpServer()
                    .requestHandler(LockingServer.this::handle)
                    .listen(SHARED_FREE_PORT, "127.0.0.1")
                    .onSuccess(bound -> port = bound.actualPort());
        }
    }

    private void handle(HttpServerRequest request) {
        String authorization = request.getHeader(HttpHeaders.AUTHORIZATION);
        TokenVerdict verdict = tokens.verify(authorization == null ? "" : authorization.replace("Bearer ", ""));
        Caller caller = verdict.caller();
        if (caller == null || !request.path().startsWith(PATH)) {
            answer(request, caller == null ? 401 : 404, "{}");
            return;
        }
        String id = request.path().substring(PATH.length(), request.path().lastIndexOf('/'));
        threads.executeBlocking(() -> claim(new PacketId(UUID.fromString(id)), caller.user()), false)
                .onSuccess(body -> answer(request, body.isEmpty() ? 409 : 200, body))
                .onFailure(fault -> answer(request, 500, "{}"));
    }

    private static void answer(HttpServerRequest request, int status, String body) {
        var unused = request.response()
                .setStatusCode(status)
                .putHeader(HttpHeaders.CONTENT_TYPE, "application/json")
                .end(body);
    }

    /** @return the answer; empty without a share */
    private String claim(PacketId packet, UserId user) throws Exception {
        ReentrantLock local = locks.computeIfAbsent(packet, unlocked -> new ReentrantLock());
        local.lock();
        try {
            Client client = clients.take();
            try {
                return client.claim(packet, user);
            } finally {
                clients.add(client);
            }
        } finally {
            local.unlock();
        }
    }

    /** The connections of one claim at a time. */
    private final class Client {
        private final SplittableRandom chance = new SplittableRandom();
        private final Jedis jedis = new Jedis(redis);
        private final Connection sql = Jdbc.connect(postgres);
        private final PreparedStatement select =
                sql.prepareStatement("select shares, amount from locking.packet where id = ? for update");
        private final PreparedStatement insert = sql.prepareStatement(
                "insert into locking.claim (packet, member, slot, amount) values (?, ?, ?, ?) returning at");
        private final PreparedStatement pay = sql.prepareStatement("insert into locking.wallet as wallet values (?, ?)"
                + " on conflict (member) do update set balance = wallet.balance + excluded.balance");
        private final PreparedStatement update =
                sql.prepareStatement("update locking.packet set shares = shares - 1, amount = amount - ? where id = ?");

        Client() throws SQLException {
            sql.setAutoCommit(false);
        }

        String claim(PacketId packet, UserId user) throws SQLException {
            String lock = "locking:" + packet;
            String owner = UUID.randomUUID().toString();
            SetParams ifFree = SetParams.setParams().nx().px(LOCK.toMillis());
            while (jedis.set(lock, owner, ifFree) == null) {
                LockSupport.parkNanos(POLL_NANOS);
            }
            try {
                String body = settle(packet, user);
                sql.commit();
                return body;
            } catch (SQLException fault) {
                sql.rollback();
                throw fault;
            } finally {
                jedis.eval(UNLOCK, List.of(lock), List.of(owner));
            }
        }

        private String settle(PacketId packet, UserId user) throws SQLException {
            select.setObject(1, packet.value());
            int shares;
            long left;
            try (ResultSet row = select.executeQuery()) {
                if (!row.next() || row.getInt(1) == 0) {
                    return "";
                }
                shares = row.getInt(1);
                left = row.getLong(2);
            }
            long amount = shares == 1 ? left : chance.nextLong(1, 2 * left / shares);
            insert.setObject(1, packet.value());
            insert.setString(2, user.value());
            insert.setInt(3, shares - 1);
            insert.setLong(4, amount);
            Instant at;
            try (ResultSet row = insert.executeQuery()) {
                row.next();
                at = row.getObject(1, OffsetDateTime.class).toInstant();
            }
            pay.setString(1, user.value());
            pay.setLong(2, amount);
            pay.executeUpdate();
            update.setLong(1, amount);
            update.setObject(2, packet.value());
            update.executeUpdate();
            return PacketBodies.claim(new Claim(packet, user, shares - 1, amount, BenchBed.CNY, at));
        }

        void close() throws SQLException {
            jedis.close();
            sql.close();
        }
    }

    @Override
    public void close() throws Exception {
        BenchBed.await(vertx.close());
        for (Client client : clients) {
            client.close();
        }
    }
}
