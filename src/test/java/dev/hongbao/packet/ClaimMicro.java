package dev.hongbao.packet;

import dev.hongbao.engine.Attempts;
import dev.hongbao.engine.Installation;
import dev.hongbao.engine.ShardScript;
import dev.hongbao.engine.ShardStore;
import dev.hongbao.engine.Shards;
import dev.hongbao.packet.Claim.AcceptedClaims;
import dev.hongbao.packet.ClaimService.ClaimMetrics;
import dev.hongbao.packet.Packet.Commitment;
import dev.hongbao.packet.split.Split;
import dev.hongbao.packet.split.SplitTerms;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.values.Asset;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.redis.client.Request;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** A batch of 256 claims as the script's arguments, and as the journal has them. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class ClaimMicro {
    private static final int CLAIMS = 256;
    private static final Asset CNY = new Asset("CNY");
    private static final SplitTerms TERMS = SplitTerms.of(SplitAlgorithm.DOUBLE_MEAN, CLAIMS, CLAIMS, null, null);

    /** Nothing is sent here. */
    private static final RedisLinks NOWHERE = (RedisLinks) Proxy.newProxyInstance(
            RedisLinks.class.getClassLoader(), new Class<?>[] {RedisLinks.class}, (self, asked, given) -> null);

    @Param({"1", "64"})
    public int packets;

    private final Shards shards = new Shards(
            new ShardStore(null, new Installation(new UUID(0, 0), "test")), 1, Map.of("claim", "-- @generation@"));
    private final ClaimBatcher batcher = new ClaimBatcher(
            new Attempts(
                    null,
                    NOWHERE,
                    shards,
                    null,
                    null,
                    new Attempts.Limits(CLAIMS, CLAIMS, 100_000, Duration.ofSeconds(2), Duration.ZERO),
                    Clock.systemUTC()),
            new ClaimMetrics(new SimpleMeterRegistry()));
    private final List<ClaimBatcher.Submission> submissions = new ArrayList<>();
    private final List<String> journal = new ArrayList<>();

    @Setup
    public void claims() {
        List<Packet> all = new ArrayList<>();
        List<StringBuilder> items = new ArrayList<>();
        for (int i = 0; i < packets; i++) {
            Packet packet = packet(new PacketId(new UUID(i, i)));
            all.add(packet);
            items.add(new StringBuilder(packet.id() + " 0"));
        }
        for (int i = 0; i < CLAIMS; i++) {
            UserId user = new UserId(String.format(Locale.ROOT, "member-%09d", i));
            submissions.add(new ClaimBatcher.Submission(all.get(i % packets), user, false, Long.MAX_VALUE));
            items.get(i % packets).append(' ').append(user);
        }
        items.forEach(item -> journal.add(item.toString()));
    }

    private static Packet packet(PacketId id) {
        return Packet.of(id, 0, new GroupId("family"), new UserId("alice"))
                .shares(
                        Packet.Kind.LUCKY,
                        CNY,
                        TERMS,
                        Commitment.of(id.value(), CNY, TERMS, new byte[Split.SEED_BYTES]))
                .times(Instant.EPOCH, Instant.EPOCH, Instant.MAX)
                .build();
    }

    @Benchmark
    public Request encodeBatch() {
        return ShardScript.request(shards.current(0), batcher.new ClaimScriptCall(submissions).call());
    }

    @Benchmark
    public int decodeJournal() {
        int claims = 0;
        for (String item : journal) {
            claims += AcceptedClaims.decode(item).size();
        }
        return claims;
    }
}
