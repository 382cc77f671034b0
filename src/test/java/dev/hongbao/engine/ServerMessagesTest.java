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
import java.util.Set;
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

    private static final byte SELF = 1;
    private static final byte SET_ASIDE = 5;
    private static final byte FACTS = 16;
    private static final Generation GENERATION = new Generation("test", 3, 1, "nonce");

    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private final Facts facts = new Facts(FACTS, new Settlements<>());

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
                new ServerMessages(Loop.of(vertx), lines.line("this"), shards, List.of(facts), audience, metrics)));
        return shards;
    }

    private static ServerLine listening(TestLines lines, String name, byte kind, List<Buffer> heard) {
        ServerLine line = lines.line(name);
        line.listen(message -> {
            if (message.getByte(1) == kind) {
                heard.add(message);
            }
        });
        return line;
    }

    private double count(String as) {
        return ServerMessages.counter(metrics, as).count();
    }

    /** Else it would settle what it finds in the journal and not tell who waits: half a second for each who does. */
    @Test
    void whoTakesAShardOverIsToldWhatWasWrittenThere(Vertx vertx) {
        // Given a server that owns two shards, and hears what this one has written there
        TestLines lines = new TestLines();
        List<Buffer> told = new CopyOnWriteArrayList<>();
        List<Buffer> toldAgain = new CopyOnWriteArrayList<>();
        ServerLine before = listening(lines, "before", ENTRIES, told);
        ServerLine after = listening(lines, "after", ENTRIES, toldAgain);
        Shards shards = deploy(vertx, lines, new Audience());
        before.tell("this", self("before", List.of(3, 4), false));
        Eventually.eventually(SOON, () -> assertThat(count("heard")).isPositive());
        shards.foreignEntries().tell(Stretch.of(GENERATION, 7));
        Eventually.eventually(SOON, () -> assertThat(told).hasSize(1));

        // When another one says that it owns them
        after.tell("this", self("after", List.of(3, 4), false));

        // Then it is told the same, and not again when it says no more than that
        after.tell("this", self("after", List.of(3, 4), true));
        before.tell("this", self("before", List.of(3), false));
        Eventually.eventually(SOON, () -> assertThat(told).hasSize(2));
        assertThat(toldAgain).containsExactlyElementsOf(told.subList(0, 1));
    }

    /** A fact is the number of its journal entry. */
    private record Facts(int kind, Settlements<Integer> settlements) implements SettledFacts<Integer> {
        @Override
        public List<CursorMoves.Move> moves(Integer fact) {
            return List.of(new CursorMoves.Move(GENERATION, fact - 1, fact));
        }

        @Override
        public void write(Integer fact, WireWriter to) {
            to.octet(fact);
        }

        @Override
        public void heard(WireReader from) {}

        Buffer message(int fact) {
            return ServerMessages.message(this, fact, moves(fact));
        }
    }

    private static Facts ofKind(int kind) {
        return new Facts(kind, new Settlements<>());
    }

    @Test
    void aKindOfFactsIsOneByteAboveTheServersOwnAndNobodyElses() {
        assertThat(SettledFacts.byKind(List.of(ofKind(16), ofKind(255)))).containsOnlyKeys(16, 255);
        for (List<SettledFacts<?>> wrong : List.<List<SettledFacts<?>>>of(
                List.of(ofKind(15)), List.of(ofKind(256)), List.of(ofKind(17), ofKind(17)))) {
            assertThatThrownBy(() -> SettledFacts.byKind(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static Buffer wrote(String name, int seq) {
        return new WireWriter()
                .octet(1)
                .octet(ENTRIES)
                .text(name)
                .stretches(List.of(Stretch.of(GENERATION, seq)))
                .message();
    }

    @Test
    void settledFactsGoToListenersAndToTheWritersOfTheirEntries(Vertx vertx) {
        // Given a server that waits for nothing, one with listeners, and one that wrote an entry
        TestLines lines = new TestLines();
        List<Buffer> toIdle = new CopyOnWriteArrayList<>();
        List<Buffer> toListening = new CopyOnWriteArrayList<>();
        List<Buffer> toWriter = new CopyOnWriteArrayList<>();
        List<Buffer> toLate = new CopyOnWriteArrayList<>();
        deploy(vertx, lines, new Audience());
        listening(lines, "idle", FACTS, toIdle).tell("this", self("idle", false));
        listening(lines, "listening", FACTS, toListening).tell("this", self("listening", true));
        listening(lines, "writer", FACTS, toWriter).tell("this", wrote("writer", 8));
        Eventually.eventually(SOON, () -> assertThat(count("heard")).isEqualTo(3));

        // When
        facts.settlements().here().tell(7);
        facts.settlements().here().tell(8);

        // Then
        Eventually.eventually(SOON, () -> assertThat(toListening).containsExactly(facts.message(7), facts.message(8)));
        assertThat(toWriter).containsExactly(facts.message(8));
        assertThat(toIdle).isEmpty();

        // When a server tells of its entry after the settlement, within a second
        listening(lines, "late", FACTS, toLate).tell("this", wrote("late", 7));

        // Then it hears of its own entry
        Eventually.eventually(SOON, () -> assertThat(toLate).containsExactly(facts.message(7)));
    }

    @Test
    void factsOfAnotherVersionOrAnOldGenerationAreIgnored(Vertx vertx) {
        // Given
        TestLines lines = new TestLines();
        ServerLine other = lines.line("other");
        Shards shards = deploy(vertx, lines, new Audience());
        shards.adopt(new ShardStore.ShardRow(GENERATION, 0, "", 0, Set.of()));

        // When a message comes as one of the next version, then of this one
        other.tell("this", facts.message(7).setByte(0, (byte) 2));
        other.tell("this", facts.message(7));

        // Then
        Eventually.eventually(SOON, () -> assertThat(count("heard")).isEqualTo(1));
        assertThat(count("ignored")).isEqualTo(1);

        // When the shard has another generation
        shards.adopt(new ShardStore.ShardRow(new Generation("test", 3, 2, "next"), 0, "", 0, Set.of()));
        other.tell("this", facts.message(7));

        // Then
        Eventually.eventually(SOON, () -> assertThat(count("ignored")).isEqualTo(2));
        assertThat(count("heard")).isEqualTo(1);
    }

    @Test
    void aUnitThatIsSetAsideIsToldAndHeardOf(Vertx vertx) {
        // Given
        TestLines lines = new TestLines();
        List<Buffer> told = new CopyOnWriteArrayList<>();
        List<String> heard = new CopyOnWriteArrayList<>();
        ServerLine other = listening(lines, "other", SET_ASIDE, told);
        deploy(vertx, lines, new Audience());
        other.tell("this", self("other", false));
        Eventually.eventually(SOON, () -> assertThat(count("heard")).isEqualTo(1));
        vertx.eventBus().consumer(Quarantine.SET_ASIDE_ELSEWHERE, word -> heard.add("elsewhere"));
        Buffer setAside = new WireWriter().octet(1).octet(SET_ASIDE).message();

        // When a unit is set aside here, and one elsewhere
        vertx.eventBus().publish(Quarantine.SET_ASIDE, null);
        other.tell("this", setAside);

        // Then
        Eventually.eventually(SOON, () -> assertThat(told).containsExactly(setAside));
        Eventually.eventually(SOON, () -> assertThat(heard).hasSize(1));
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
        audience.joined();
        assertThat(audience.isAnywhere()).isTrue();
        assertThat(audience.isEmpty()).isFalse();
        audience.left();
        assertThat(audience.isAnywhere()).isFalse();

        // When
        other.tell("this", self("other", true));

        // Then
        Eventually.eventually(SOON, () -> assertThat(audience.isAnywhere()).isTrue());
        assertThat(audience.isEmpty()).as("nobody listens on this server").isTrue();

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
        Eventually.eventually(SOON, () -> assertThat(told).contains(self("this", false)));
        shards.foreignEntries().tell(Stretch.of(GENERATION, 7));
        shards.owns(Set.of(5));
        Eventually.eventually(SOON, () -> assertThat(told).contains(self("this", List.of(5), false)));

        // When
        vertx.deploymentIDs().forEach(id -> get(vertx.undeploy(id)));

        // Then
        assertThat(told.get(told.size() - 1)).isEqualTo(farewell("this"));
        assertThat(told.subList(0, told.size() - 1)).allMatch(message -> message.getByte(1) == SELF);
    }
}
