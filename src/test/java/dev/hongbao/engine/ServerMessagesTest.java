package dev.hongbao.engine;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.engine.Settlements.Audience;
import dev.hongbao.engine.Settlements.SettledFacts;
import dev.hongbao.engine.Wire.WireReader;
import dev.hongbao.engine.Wire.WireWriter;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.TestLines;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.junit5.VertxExtension;
import io.vertx.pgclient.PgBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A server's knowledge of the others, without any store. */
@ExtendWith(VertxExtension.class)
class ServerMessagesTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    /** The kind of a word about a journal. */
    private static final byte ENTRIES = 4;

    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();

    /** The message about itself of a server that owns nothing. */
    static Buffer self(String name, boolean listens) {
        return self(name, List.of(), listens);
    }

    private static Buffer self(String name, List<Integer> owned, boolean listens) {
        return new WireWriter()
                .octet(1)
                .octet(1)
                .text(name)
                .numbers(owned)
                .octet(listens ? 1 : 0)
                .message();
    }

    /** Of a server named "this". */
    private Shards deploy(Vertx vertx, TestLines lines, Audience audience) {
        ShardStore nowhere =
                new ShardStore(PgBuilder.pool().using(vertx).build(), new Installation(new UUID(0, 0), "test"));
        Shards shards = new Shards(nowhere, 16, Map.of());
        get(vertx.deployVerticle(
                new ServerMessages(Loop.of(vertx), lines.line("this"), shards, List.of(), audience, metrics)));
        return shards;
    }

    private static ServerLine listening(TestLines lines, String name, List<Buffer> heard) {
        ServerLine line = lines.line(name);
        line.listen(message -> {
            if (message.getByte(1) == ENTRIES) {
                heard.add(message);
            }
        });
        return line;
    }

    /** Else it would settle what it finds in the journal and not tell who waits: half a second for each who does. */
    @Test
    void whoTakesAShardOverIsToldWhatWasWrittenThere(Vertx vertx) {
        // Given a server that owns two shards, and hears what this one has written there
        TestLines lines = new TestLines();
        List<Buffer> told = new CopyOnWriteArrayList<>();
        List<Buffer> toldAgain = new CopyOnWriteArrayList<>();
        ServerLine before = listening(lines, "before", told);
        ServerLine after = listening(lines, "after", toldAgain);
        Shards shards = deploy(vertx, lines, new Audience());
        before.tell("this", self("before", List.of(3, 4), false));
        Generation generation = new Generation("test", 3, 1, "nonce");
        Eventually.eventually(
                SOON,
                () -> assertThat(ServerMessages.counter(metrics, "heard").count())
                        .isPositive());
        shards.foreignEntries().tell(Stretch.of(generation, 7));
        Eventually.eventually(SOON, () -> assertThat(told).hasSize(1));

        // When another one says that it owns them
        after.tell("this", self("after", List.of(3, 4), false));

        // Then it is told the same, and not again when it says no more than that
        after.tell("this", self("after", List.of(3, 4), true));
        before.tell("this", self("before", List.of(3), false));
        Eventually.eventually(SOON, () -> assertThat(told).hasSize(2));
        assertThat(toldAgain).containsExactlyElementsOf(told.subList(0, 1));
    }

    /** Settled facts of one kind. */
    private record Facts(int kind) implements SettledFacts<String> {
        @Override
        public Settlements<String> settlements() {
            return new Settlements<>();
        }

        @Override
        public List<CursorMoves.Move> moves(String facts) {
            return List.of();
        }

        @Override
        public void write(String facts, WireWriter to) {}

        @Override
        public void heard(WireReader from) {}
    }

    @Test
    void aKindOfFactsIsOneByteAboveTheServersOwnAndNobodyElses() {
        assertThat(SettledFacts.byKind(List.of(new Facts(16), new Facts(255)))).containsOnlyKeys(16, 255);
        for (List<SettledFacts<?>> wrong : List.<List<SettledFacts<?>>>of(
                List.of(new Facts(15)), List.of(new Facts(256)), List.of(new Facts(17), new Facts(17)))) {
            assertThatThrownBy(() -> SettledFacts.byKind(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void somebodyWhoListensOnAnotherServerIsAnAudience(Vertx vertx) {
        // Given
        TestLines lines = new TestLines();
        ServerLine other = lines.line("other");
        other.listen(message -> {});
        Audience audience = new Audience();
        deploy(vertx, lines, audience);
        assertThat(audience.isAnywhere()).isFalse();

        // When
        other.tell("this", self("other", true));

        // Then
        Eventually.eventually(SOON, () -> assertThat(audience.isAnywhere()).isTrue());

        // And when nobody does there any more
        other.tell("this", self("other", false));
        Eventually.eventually(SOON, () -> assertThat(audience.isAnywhere()).isFalse());

        // And when it says farewell, sooner than a silent server is forgotten
        other.tell("this", self("other", true));
        Eventually.eventually(SOON, () -> assertThat(audience.isAnywhere()).isTrue());
        other.tell("this", farewell("other"));
        Eventually.eventually(
                Duration.ofSeconds(4), () -> assertThat(audience.isAnywhere()).isFalse());
    }

    /** Else a new server tells nobody of its entries for a second. */
    @Test
    void whoIsNewIsGreetedAtOnce(Vertx vertx) {
        // Given
        TestLines lines = new TestLines();
        deploy(vertx, lines, new Audience());

        // When five come one after the other, and each waits for a word
        List<Buffer> told = new CopyOnWriteArrayList<>();
        long begun = System.nanoTime();
        for (int i = 0; i < 5; i++) {
            ServerLine line = lines.line("new-" + i);
            int before = told.size();
            line.listen(told::add);
            line.tell("this", self("new-" + i, false));
            Eventually.eventually(SOON, () -> assertThat(told).hasSizeGreaterThan(before));
        }

        // Then none has waited for what is said each second
        assertThat(System.nanoTime() - begun)
                .isLessThan(Duration.ofMillis(2_500).toNanos());
    }

    private static Buffer farewell(String name) {
        return new WireWriter().octet(1).octet(6).text(name).message();
    }

    @Test
    void aServerThatStopsSaysFarewellAndNothingElseWhileItIsAlone(Vertx vertx) {
        // Given a server that has heard no other, and writes where it owns nothing
        TestLines lines = new TestLines();
        List<Buffer> told = new CopyOnWriteArrayList<>();
        lines.line("other").listen(told::add);
        Shards shards = deploy(vertx, lines, new Audience());
        shards.foreignEntries().tell(Stretch.of(new Generation("test", 3, 1, "nonce"), 7));
        Eventually.eventually(SOON, () -> assertThat(told).hasSizeGreaterThan(1));

        // When
        vertx.deploymentIDs().forEach(id -> get(vertx.undeploy(id)));

        // Then
        assertThat(told.get(told.size() - 1)).isEqualTo(farewell("this"));
        assertThat(told.subList(0, told.size() - 1)).allMatch(message -> message.equals(self("this", false)));
    }
}
