package dev.hongbao.tools.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.access.TokenTrust;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestServers;
import dev.hongbao.tools.chaos.check.Answer;
import dev.hongbao.tools.chaos.check.Call;
import dev.hongbao.tools.chaos.check.Call.Kind;
import dev.hongbao.tools.chaos.load.Api;
import dev.hongbao.tools.chaos.load.History;
import dev.hongbao.tools.local.ChildServer;
import dev.hongbao.tools.local.Debugger;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

/** A recovery stands still in its middle, another server recovers the shard, and the first one goes on where it was. */
@ExtendWith(Servers.class)
class FrozenRecoveryIT {
    private static final int SHARES = 40;
    private static final Duration SOON = Duration.ofSeconds(15);

    /** Postgres ends the connection of who says nothing, then the other one is asked for its shards. */
    private static final Duration TAKEN_OVER = Duration.ofSeconds(40);

    @TempDir
    private Path directory;

    private ChildServer serve(TestServers stores, List<String> flags) throws Exception {
        return ChildServer.start(
                directory,
                flags,
                Map.of(
                        "shards", "1",
                        "redis.url", stores.redisUrl(),
                        "postgres.url", stores.postgresAppUrl(),
                        "postgres.owner-url", stores.postgresOwnerUrl()));
    }

    private TokenSigner signer() throws Exception {
        HongbaoConfig config = HongbaoConfig.forTrial(directory, Map.of());
        return new TokenSigner(
                TokenTrust.secret(config.web().token(), config.engine().tokenKeyFile()), null, null, Clock.systemUTC());
    }

    @ParameterizedTest
    @ValueSource(strings = {"prepare", "loadScripts"})
    @Tag("long")
    @DisplayName(
            "Given an owner that stands still in the middle of a recovery, when another server has recovered and it goes on, then it does no harm")
    void whoThawsInTheMiddleOfARecoveryDoesNoHarm(String step, TestServers stores) throws Exception {
        Books books = new Books(stores);
        try (History history = new History(directory.resolve("history.txt"), 10_000, System::nanoTime);
                Debugger debugger = new Debugger();
                ChildServer first = serve(stores, List.of("-Xmx256m", debugger.flag()));
                ChildServer second = serve(stores, List.of("-Xmx256m"))) {
            Api api = new Api(history, signer(), List.of(first.port(), second.port()));

            // Given claims, and the owner in the middle of a recovery
            api.perform(new Call(Kind.DEPOSIT, "alice", "", "d" + step, 10_000, 0));
            String packet = api.perform(new Call(Kind.SEND, "alice", Call.terms(SHARES, 3_600), "s" + step, 4_000, 0))
                    .answer()
                    .id();
            Map<String, Answer> answered = new HashMap<>();
            claim(api, packet, 0, 10, 0, answered);
            debugger.at(Debugger.Act.STAND_STILL, "dev.hongbao.engine.Recovery", step);
            try (Jedis redis = new Jedis(stores.redisUrl())) {
                redis.scriptFlush();
            }
            CompletableFuture<?> noticed =
                    CompletableFuture.runAsync(() -> api.perform(Call.claim("early", packet, 1)));
            assertThat(debugger.awaitStop(SOON.toMillis())).isTrue();

            // When the other one has recovered and settled more, and the first goes on
            Eventually.eventually(TAKEN_OVER, () -> claim(api, packet, 10, 11, 1, answered));
            claim(api, packet, 11, 20, 1, answered);
            debugger.goOn();
            noticed.join();

            // Then both settle, give the answers that they gave, and the books are right
            for (int server : List.of(0, 1)) {
                Eventually.eventually(SOON, () -> claim(api, packet, 0, 20, server, answered));
            }
            Eventually.eventually(SOON, () -> claim(api, packet, 20, SHARES - 1, 0, answered));
            Eventually.eventually(SOON, books::assertJournalsEmpty);
            books.assertReconciled();
            assertThat(first.alive()).isTrue();
        }
    }

    /** Users claim; a repeated claim gets the same answer. */
    private static void claim(Api api, String packet, int from, int to, int server, Map<String, Answer> answered) {
        for (int i = from; i < to; i++) {
            String user = "u" + i;
            Answer answer = api.perform(Call.claim(user, packet, server)).answer();
            assertThat(answer.isOk()).as(user + ": " + answer).isTrue();
            Answer before = answered.putIfAbsent(user, answer);
            if (before != null) {
                assertThat(answer.slot()).as(user).isEqualTo(before.slot());
                assertThat(answer.amount()).as(user).isEqualTo(before.amount());
            }
        }
    }
}
