package dev.hongbao.tools.chaos.bed;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.tools.local.ApiClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/** The stores and the servers of a run. Blocking. @param directory for all files; exists */
public record ChaosBed(Path directory, RedisSide redis, PostgresSide postgres, List<Member> members)
        implements AutoCloseable {
    /** Few: each round checks every one. */
    public static final int SHARDS = 6;

    /** Starts everything. After a failure some of it runs until the end of this process. */
    public static ChaosBed start(Path directory, int servers, RedisSide.Form form) throws Exception {
        Path binaries = directory.resolve("bin");
        RedisSide redis = new RedisSide(form, directory.resolve("redis"), binaries);
        PostgresSide postgres = new PostgresSide(directory.resolve("postgres"), binaries);
        ChaosBed bed = new ChaosBed(directory, redis, postgres, new ArrayList<>());
        for (int number = 0; number < servers; number++) {
            bed.members.add(new Member(number, directory, redis, postgres));
        }
        for (Member member : bed.members) {
            member.start();
        }
        return bed;
    }

    /** One of the servers. */
    public Member any(SplittableRandom random) {
        return members.get(random.nextInt(members.size()));
    }

    /** Promotes the replica of Redis, and leads every server to it. */
    public void promoteRedis() {
        redis.killAndPromote();
        members.forEach(member -> Objects.requireNonNull(member.redis).leadOnlyTo(redis.port()));
    }

    /** Promotes the replica of Postgres, and leads every server to it. */
    public void promotePostgres() throws Exception {
        postgres.promote();
        members.forEach(member -> member.leadToPostgres(postgres.port()));
    }

    /** The servers accept its tokens. */
    public TokenSigner signer() throws IOException {
        return ApiClient.signer(HongbaoConfig.forTrial(directory.resolve("data"), Map.of()));
    }

    /** The stores themselves, without the proxies. */
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
