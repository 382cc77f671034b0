package dev.hongbao.packet;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.CNY;
import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.store.redis.RedisLinks;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.TooManyCallsException;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** Guessing a packet's passcode with many users, on two servers of one installation. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PasscodeGuessesIT {
    private static final int LIMIT = 5;

    private TestServers stores;
    private TestEngine one;
    private TestEngine other;

    @BeforeAll
    void start(TestServers given) {
        stores = given;
        Map<String, String> options = Map.of(
                "limits.wrong-passcodes-per-packet", Integer.toString(LIMIT),
                "claim.settle-timeout", "30s",
                "redis.command-timeout", "20s");
        one = TestEngine.start(stores, 2, options);
        other = TestEngine.start(stores, 1, options);
        one.deposit("alice", 1_000_000);
    }

    @AfterAll
    void stop() {
        other.close();
        one.close();
    }

    private Packet send() {
        SendCommand command = SendCommand.of(GROUP, Packet.Kind.LUCKY, CNY, 1000, 20)
                .passcode("open sesame")
                .expiresIn(Duration.ofHours(1))
                .build();
        return one.send("alice", command);
    }

    /** The outcome's name, or {@code too-many}. */
    private static String claim(TestEngine server, Caller caller, Packet packet, @Nullable String passcode) {
        return get(server.loop(0)
                .call(services -> services.claims
                        .claim(caller, packet.id(), passcode)
                        .map(outcome -> outcome.kind().name())
                        .recover(PasscodeGuessesIT::tooMany)));
    }

    private static Future<String> tooMany(Throwable fault) {
        return fault instanceof TooManyCallsException refused && refused.retryAfterSeconds() == 60
                ? Future.succeededFuture("too-many")
                : Future.failedFuture(fault);
    }

    private static boolean isRead(Future<Void> guess) {
        return get(guess.transform(read -> read.succeeded() || read.cause() instanceof TooManyCallsException
                ? Future.succeededFuture(read.succeeded())
                : Future.failedFuture(read.cause())));
    }

    private void useUp(TestEngine server, Packet packet, int guesses) {
        for (int i = 0; i < guesses; i++) {
            assertThat(claim(server, member("guesser-" + i), packet, "wrong")).isEqualTo(Kind.WRONG_PASSCODE.name());
        }
    }

    private Jedis redis() {
        return new Jedis(URI.create(stores.redisUrl()));
    }

    private static List<String> keys(Jedis redis, Packet packet) {
        return redis.keys("hongbao:*:wrong-passcodes:" + packet.id() + "*").stream()
                .sorted()
                .toList();
    }

    @Test
    void beyondTheLimitOfAllUsersOnAllServersEachHasOneGuessAMinute() {
        // Given a packet whose guesses were used up, some here and some there
        Packet packet = send();
        useUp(one, packet, 3);
        useUp(other, packet, LIMIT - 3);

        // When others guess, then one guess of each is read, right or wrong
        eventually(
                Duration.ofSeconds(10), () -> assertThat(keys(redis(), packet)).isNotEmpty());
        assertThat(claim(one, member("bob"), packet, "open sesame")).isEqualTo(Kind.CLAIMED.name());
        assertThat(claim(other, member("carol"), packet, "wrong")).isEqualTo(Kind.WRONG_PASSCODE.name());

        // And the second one is not, here nor there, not even when it is right
        assertThat(claim(other, member("carol"), packet, "open sesame")).isEqualTo("too-many");
        assertThat(claim(one, member("carol"), packet, "open sesame")).isEqualTo("too-many");

        // And all of it is forgotten in time
        try (Jedis redis = redis()) {
            assertThat(keys(redis, packet))
                    .hasSize(3)
                    .allSatisfy(key -> assertThat(redis.ttl(key)).isBetween(1L, 3600L));
        }
    }

    @Test
    void manyAtOnceAreNoMoreThanTheLimit() {
        Packet packet = send();
        List<Future<String>> all = new ArrayList<>();

        List<String> outcomes = get(one.loop(0).call(services -> {
            for (int i = 0; i < 50; i++) {
                all.add(services.claims
                        .claim(member("same"), packet.id(), "wrong")
                        .map(outcome -> outcome.kind().name())
                        .recover(PasscodeGuessesIT::tooMany));
            }
            return Future.join(all).map(done -> all.stream().map(Future::result).toList());
        }));

        // The last one is the user's guess of the minute
        assertThat(outcomes.stream().filter(Kind.WRONG_PASSCODE.name()::equals)).hasSize(LIMIT + 1);
    }

    @Test
    void whoMayNotClaimOrTypesNothingOrTheRightOneUsesUpNoGuess() {
        Packet packet = send();
        Caller outsider = new Caller(new UserId("eve"), Set.of(new GroupId("strangers")), Role.USER, Instant.MAX);
        for (int i = 0; i < 2 * LIMIT; i++) {
            assertThat(claim(one, outsider, packet, "wrong")).isEqualTo(Kind.NOT_ELIGIBLE.name());
            assertThat(claim(one, member("dave"), packet, null)).isEqualTo(Kind.WRONG_PASSCODE.name());
            assertThat(claim(one, member("erin-" + i), packet, "open sesame")).isEqualTo(Kind.CLAIMED.name());
        }

        try (Jedis redis = redis()) {
            assertThat(keys(redis, packet)).isEmpty();
        }
        useUp(one, packet, LIMIT);
    }

    /** The client is told to ask again: it must not wait a minute for that. */
    @Test
    void aGuessThatIsGivenBackIsThereAgainOnEveryServer() {
        // Given the only guess of a user on a packet beyond its limit
        PacketId packet = PacketId.create();
        PasscodeGuesses here = new PasscodeGuesses("given-back", 1, System::nanoTime);
        assertThat(guess(here, packet, true)).isTrue();
        assertThat(guess(here, packet, false)).isTrue();
        assertThat(guess(here, packet, false)).isFalse();

        // When
        get(one.loop(0).call(services -> {
            here.giveBack(services.redis, packet, new UserId("bob"));
            return Future.succeededFuture();
        }));

        // Then
        PasscodeGuesses there = new PasscodeGuesses("given-back", 1, System::nanoTime);
        assertThat(guess(there, packet, false)).isTrue();
        assertThat(guess(here, packet, false)).isFalse();
    }

    private boolean guess(PasscodeGuesses guesses, PacketId packet, boolean wrong) {
        return isRead(one.loop(0).call(services -> guesses.guess(services.redis, packet, new UserId("bob"), wrong)));
    }

    @Test
    void withoutRedisAServerCountsAlone() {
        Vertx vertx = Vertx.vertx();
        try {
            // Given a link that is closed
            RedisLinks gone = get(RedisLinks.open(vertx, stores.redisUrl(), Duration.ofSeconds(2), "gone"));
            get(gone.close());
            AtomicLong nanos = new AtomicLong(1);
            PasscodeGuesses guesses = new PasscodeGuesses("nowhere", 2, nanos::get);
            PacketId packet = PacketId.create();
            UserId bob = new UserId("bob");
            UserId carol = new UserId("carol");

            // When
            for (int i = 0; i < 2; i++) {
                assertThat(isRead(guesses.guess(gone, packet, bob, true))).isTrue();
            }

            // Then each has one guess a minute
            assertThat(isRead(guesses.guess(gone, packet, bob, false))).isTrue();
            assertThat(isRead(guesses.guess(gone, packet, bob, false))).isFalse();
            assertThat(isRead(guesses.guess(gone, packet, carol, false))).isTrue();
            nanos.addAndGet(Duration.ofSeconds(61).toNanos());
            assertThat(isRead(guesses.guess(gone, packet, bob, false))).isTrue();
            assertThat(isRead(guesses.guess(gone, packet, bob, false))).isFalse();

            // And after the hour they count anew
            nanos.addAndGet(Duration.ofHours(2).toNanos());
            for (int i = 0; i < 5; i++) {
                assertThat(isRead(guesses.guess(gone, packet, bob, false))).isTrue();
            }
        } finally {
            get(vertx.close());
        }
    }
}
