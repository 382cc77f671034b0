package dev.hongbao.tools.chaos.bed;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.engine.postgres.PostgresAddress;
import dev.hongbao.server.StoreAddresses;
import dev.hongbao.server.TokenRules;
import dev.hongbao.tools.local.LossyProxy;
import dev.hongbao.web.access.TokenSigner;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The stores and the servers of a run. Blocking. */
public final class ChaosBed implements AutoCloseable {
    /** Few, so that each is looked after in each round. */
    public static final int SHARDS = 6;

    private final Path directory;
    private final RedisSide redis;
    private final PostgresSide postgres;
    private final List<Member> members = new ArrayList<>();

    private ChaosBed(Path directory, RedisSide redis, PostgresSide postgres) {
        this.directory = directory;
        this.redis = redis;
        this.postgres = postgres;
    }

    /** Starts everything. @param directory for all of its files, which is there */
    public static ChaosBed start(Path directory, int servers, RedisSide.Form form) throws Exception {
        Path binaries = directory.resolve("bin");
        RedisSide redis = new RedisSide(form, directory.resolve("redis"), binaries);
        ChaosBed bed;
        try {
            bed = new ChaosBed(directory, redis, new PostgresSide(directory.resolve("postgres"), binaries));
        } catch (IOException | SQLException | RuntimeException | Error fault) {
            redis.close();
            throw fault;
        }
        try {
            bed.startServers(servers);
            return bed;
        } catch (Exception | Error fault) {
            bed.close();
            throw fault;
        }
    }

    private void startServers(int servers) throws IOException, InterruptedException {
        for (int number = 0; number < servers; number++) {
            Map<String, String> options = Map.of(
                    "shards",
                    Integer.toString(SHARDS),
                    "webhooks.private-networks",
                    "127.0.0.0/8",
                    "webhooks.max-wait",
                    "2s");
            members.add(new Member(number, directory, redis, postgres, options));
        }
        members.get(0).archiveClasses();
        for (Member member : members) {
            member.start();
        }
    }

    public List<Member> members() {
        return members;
    }

    public RedisSide redis() {
        return redis;
    }

    public PostgresSide postgres() {
        return postgres;
    }

    /** Where clients reach the servers, in the order of their numbers. */
    public List<Integer> ports() {
        return members.stream().map(Member::port).toList();
    }

    /** After a promotion: every server finds the node that takes writes now. */
    public void leadToRedis() {
        for (Member member : members) {
            LossyProxy line = Objects.requireNonNull(member.redis());
            line.leadTo(redis.port());
            line.breakConnections();
        }
    }

    /** After a promotion: the same of Postgres. */
    public void leadToPostgres() {
        members.forEach(member -> member.leadToPostgres(postgres.port()));
    }

    /** Signs what the servers believe. */
    public TokenSigner signer() throws IOException {
        HongbaoConfig config = HongbaoConfig.forTrial(directory.resolve("data"), Map.of());
        return new TokenSigner(
                TokenRules.secret(config.web().token(), config.engine().data()), null, null, Clock.systemUTC());
    }

    /** The stores, reached directly. */
    public StoreAddresses stores() {
        return new StoreAddresses(
                redis.url(), PostgresAddress.of(postgres.ownerUrl()), PostgresAddress.of(postgres.appUrl()));
    }

    @Override
    public void close() throws Exception {
        try {
            for (Member member : members) {
                member.close();
            }
        } finally {
            postgres.close();
            redis.close();
        }
    }
}
