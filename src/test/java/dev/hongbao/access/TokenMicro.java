package dev.hongbao.access;

import dev.hongbao.access.Tokens.TokenVerdict;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** A token's check, once a request: seen before, and for the first time. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class TokenMicro {
    private static final byte[] SECRET = "a secret of at least 32 bytes, for HS256".getBytes(StandardCharsets.US_ASCII);

    private final String token = new TokenSigner(SECRET, null, null, Clock.systemUTC())
            .sign(
                    new UserId("member-000000001"),
                    Set.of(new GroupId("family"), new GroupId("office")),
                    Role.USER,
                    Duration.ofHours(1));
    private final Tokens tokens = new Tokens(settings(Tokens.Settings.DEFAULT_CACHE_BYTES), Clock.systemUTC());
    private final Tokens forgetful = new Tokens(settings(0), Clock.systemUTC());

    private static Tokens.Settings settings(long cacheBytes) {
        Tokens.Settings usual = TestKeys.settingsOf(SECRET);
        return new Tokens.Settings(usual.keys(), usual.issuer(), usual.audience(), usual.maxLife(), cacheBytes);
    }

    @Benchmark
    public TokenVerdict seenBefore() {
        return tokens.verify(token);
    }

    @Benchmark
    public TokenVerdict firstSight() {
        return forgetful.verify(token);
    }
}
