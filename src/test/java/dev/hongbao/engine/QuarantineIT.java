package dev.hongbao.engine;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.draw.Draw;
import dev.hongbao.draw.Play.PlayOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.packet.Claim.ClaimOutcome.Kind;
import dev.hongbao.packet.Packet;
import dev.hongbao.packet.PacketService;
import dev.hongbao.packet.SendCommand;
import dev.hongbao.reconcile.BookQueries;
import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import dev.hongbao.server.Operations;
import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Eventually;
import dev.hongbao.testing.RefusingServer;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDraws;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.UnavailableException;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.XAddParams;

/** A unit that Postgres refuses for ever is set aside alone, and its shard goes on. */
@ExtendWith(Servers.class)
class QuarantineIT {
    /** Callers must not wait for their deadline: what is set aside says so. */
    private static final Map<String, String> OPTIONS = Map.of("shards", "1", "claim.settle-timeout", "20s");

    private static final Duration SOON = Duration.ofSeconds(15);

    private TestServers servers;
    private TestEngine engine;
    private Books books;
    private TestDraws draws;
    private List<String> before;

    @BeforeEach
    void start(TestServers given) {
        servers = given;
        books = new Books(servers);
        engine = TestEngine.start(servers, 1, OPTIONS);
        engine.deposit("alice", 100_000);
        draws = new TestDraws(engine);
        before = books.strings("select id from quarantine_unit");
    }

    @AfterEach
    void stop() {
        books.assertNoViolation();
        engine.close();
    }

    private Kind kind(Packet packet, String user) {
        return engine.claim(packet, user).kind();
    }

    private static void assertSetAside(Future<?> answer) {
        assertThatThrownBy(() -> get(answer))
                .isInstanceOfSatisfying(
                        UnavailableException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(UnavailableException.Reason.SET_ASIDE));
    }

    private RefusingServer refuseClaims(Packet packet) {
        return RefusingServer.rows(books, "transfer", "new.subject = '" + packet.id() + "' and new.slot > 0", "23514");
    }

    private List<String> units() {
        return books.strings("select kind || ' ' || id from quarantine_unit order by id").stream()
                .filter(unit -> before.stream().noneMatch(unit::contains))
                .toList();
    }

    private List<String> items(UUID unit) {
        return books.strings("select verb || ' ' || item from quarantine where unit = '" + unit + "' order by n");
    }

    private static String quarantinedCheck() {
        return BookQueries.where(severity -> severity == Severity.QUARANTINED)
                .values()
                .iterator()
                .next();
    }

    private double gauge() {
        return engine.metrics().get("hongbao.quarantined").gauge().value();
    }

    @Test
    void aPacketIsSetAsideAloneAndItsShardGoesOn() {
        // Given
        Packet bad = engine.send("alice", 1000, 5);
        Packet good = engine.send("alice", 1000, 50);
        ClaimOutcome first = engine.claim(bad, "bob");
        long generation = books.sumOfEpochs();
        AtomicInteger told = new AtomicInteger();
        engine.vertx().eventBus().consumer(Quarantine.SET_ASIDE, word -> told.incrementAndGet());

        try (RefusingServer rule = refuseClaims(bad)) {
            // When
            Future<ClaimOutcome> refused = engine.claim(0, bad, "carol");
            List<Future<ClaimOutcome>> others = IntStream.range(0, 20)
                    .mapToObj(n -> engine.claim(0, good, "u" + n))
                    .toList();

            // Then
            assertSetAside(refused);
            others.forEach(other -> assertThat(get(other).kind()).isEqualTo(Kind.CLAIMED));
            assertThat(units()).containsExactly("packet " + bad.id());
            assertThat(items(bad.id().value())).containsExactly("claim " + bad.id() + " 1 carol");
            assertThat(books.sumOfEpochs()).as("no recovery for that").isEqualTo(generation);
            assertThat(books.strings(quarantinedCheck()))
                    .anyMatch(line -> line.startsWith("packet " + bad.id()) && line.contains("23514"));
            assertThat(gauge()).isEqualTo(before.size() + 1);
            Eventually.eventually(
                    SOON, () -> assertThat(told).as("told to the other servers").hasPositiveValue());
            assertSetAside(engine.claim(0, bad, "dave"));
            assertThat(engine.claim(bad, "bob").wonClaim()).isEqualTo(first.wonClaim());

            // When: its shard gets a new generation, and its time is over
            long epoch = books.sumOfEpochs();
            try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
                redis.scriptFlush();
            }
            Eventually.eventually(SOON, () -> assertThat(books.sumOfEpochs()).isGreaterThan(epoch));
            books.expire(bad);

            // Then
            assertThat(kind(good, "erin")).isEqualTo(Kind.CLAIMED);
            assertSetAside(engine.claim(0, bad, "carol"));
            assertThat(books.hashField(0, "p:" + bad.id(), "#")).isNull();
            assertThat(books.sumOfEpochs()).as("nobody misses it").isEqualTo(epoch + 1);
        }
    }

    @Test
    void aCloseADrawAndItsEndAreSetAside() {
        // Given
        Packet packet = engine.send("alice", 1000, 5);
        engine.deposit("shop", 100_000);
        String table = "{mode: table, prizes: [{name: P, count: 10, award: {asset: CNY, amount: 5}}]}";
        Draw played = draws.create(table);
        Draw ended = draws.create(table);
        Draw well = draws.create(table);

        try (RefusingServer refund = RefusingServer.rows(
                        books, "packet", "new.id = '" + packet.id() + "' and new.closed_at is not null", "P0001");
                RefusingServer play = RefusingServer.rows(books, "play", "new.draw = '" + played.id() + "'", "22003");
                RefusingServer end = RefusingServer.rows(
                        books, "draw", "new.id = '" + ended.id() + "' and new.closed_at is not null", "23514")) {
            // When
            books.expire(packet);
            Future<PlayOutcome> refused = draws.play(0, played, "bob");
            get(engine.loop(0).call(services -> services.draws.close(TestDraws.SERVICE, ended.id())));

            // Then
            assertSetAside(refused);
            Eventually.eventually(
                    SOON,
                    () -> assertThat(units())
                            .containsExactlyInAnyOrder(
                                    "packet " + packet.id(), "draw " + played.id(), "draw " + ended.id()));
            assertThat(items(packet.id().value())).containsExactly("close " + packet.id());
            assertThat(items(ended.id().value())).containsExactly("end " + ended.id() + " -");
            assertThat(items(played.id().value())).hasSize(1);
            assertThat(get(draws.play(0, well, "bob")).kind()).isEqualTo(PlayOutcome.Kind.PLAYED);
            assertSetAside(draws.play(0, played, "carol"));
        }
    }

    @Test
    void whatWasKeptIsSettledInOrderOnceTheCauseIsMended() throws Exception {
        // Given
        Packet bad = engine.send("alice", 1000, 5);
        engine.claim(bad, "bob");
        RefusingServer rule = refuseClaims(bad);
        assertSetAside(engine.claim(0, bad, "carol"));
        books.execute("insert into quarantine (unit, verb, item, at) values ('" + bad.id() + "', 'claim', '" + bad.id()
                + " 2 dave erin', now())");

        // When
        StoreAddresses stores = TestEngine.stores(servers);
        assertThatThrownBy(() -> Operations.replay(stores, bad.id().value()))
                .hasMessageContaining("the test refuses it");

        // Then
        QuarantineStore.Listed listed = Operations.list(stores).stream()
                .filter(each -> each.unit().id().equals(bad.id().value()))
                .findFirst()
                .orElseThrow();
        assertThat(listed.entries()).isEqualTo(2);
        assertThat(listed.held()).isEqualTo(1000 - bad.amountOf(0) + " CNY");

        // When
        rule.close();
        int settled = Operations.replay(stores, bad.id().value());
        int again = Operations.replay(stores, bad.id().value());

        // Then
        assertThat(settled).isEqualTo(2);
        assertThat(again).isEqualTo(-1);
        assertThat(books.strings("select user_id from claim where packet = '" + bad.id() + "' order by slot"))
                .containsExactly("bob", "carol", "dave", "erin");
        Eventually.eventually(
                SOON,
                () -> assertThat(books.strings(
                                "select claimed from group_event where type = 'packet.progress' and subject = '"
                                        + bad.id() + "'"))
                        .as("told to its group")
                        .containsExactly("4"));
        Eventually.eventually(
                SOON,
                () -> assertThat(books.hashField(0, "p:" + bad.id(), "#"))
                        .as("before anybody misses it")
                        .isEqualTo("4"));
        Eventually.eventually(SOON, () -> assertThat(kind(bad, "frank")).isEqualTo(Kind.CLAIMED));
        assertThat(kind(bad, "carol")).isEqualTo(Kind.ALREADY_CLAIMED);
        books.awaitClosed(bad);
    }

    @Test
    void aUnitThatComesBackWhileNobodyOwnsItsShardIsLoaded() throws Exception {
        // Given
        Packet bad = engine.send("alice", 1000, 5);
        engine.claim(bad, "bob");
        try (RefusingServer rule = refuseClaims(bad)) {
            assertSetAside(engine.claim(0, bad, "carol"));
        }
        get(engine.engine().stopWriter());

        // When
        assertThat(Operations.replay(TestEngine.stores(servers), bad.id().value()))
                .isEqualTo(1);
        get(engine.engine().startWriter());

        // Then, before anybody misses it
        Eventually.eventually(
                SOON, () -> assertThat(books.hashField(0, "p:" + bad.id(), "#")).isEqualTo("2"));
    }

    @Test
    void aPacketWhoseRefusalsEndDuringTheTrialsIsNotSetAside() {
        // Given: three refusals, and one of the first trial
        Packet packet = engine.send("alice", 1000, 5);
        books.execute("create sequence test_refusals; grant usage on test_refusals to public");

        // When
        try (RefusingServer rule = RefusingServer.rows(
                books,
                "transfer",
                "new.subject = '" + packet.id() + "' and new.slot >= 0 and nextval('test_refusals') <= 4",
                "23514")) {
            // Then
            assertThat(kind(packet, "bob")).isEqualTo(Kind.CLAIMED);
            assertThat(units()).isEmpty();
            assertThat(books.longOf("select last_value from test_refusals")).isGreaterThan(4);
        } finally {
            books.execute("drop sequence test_refusals");
        }
    }

    @Test
    void whatTheJournalStillHoldsKeepsItFromBeingDropped() {
        // Given: its owner has not come to it
        Packet bad = engine.send("alice", 1000, 5);
        books.execute("insert into quarantine_unit (id, kind, shard, sqlstate, reason) values ('" + bad.id()
                + "', 'packet', 0, '', 'by hand')");
        get(engine.engine().stopWriter());
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.xadd(
                    books.journalKeys().get(0),
                    Books.entry("claim", bad.id() + " 0 bob"),
                    XAddParams.xAddParams().id(books.longOf("select epoch from shard") + "-*"));
        }

        // When, Then
        StoreAddresses stores = TestEngine.stores(servers);
        assertThatThrownBy(() -> Operations.drop(stores, bad.id().value()))
                .hasMessageContaining("the journal still holds entries of it");

        // When
        get(engine.engine().startWriter());

        // Then
        Eventually.eventually(
                SOON,
                () -> assertThat(Operations.drop(stores, bad.id().value())).isEqualTo(1));
        Eventually.eventually(SOON, () -> assertThat(kind(bad, "bob")).isEqualTo(Kind.CLAIMED));
    }

    @Test
    void aDrawWhoseDefinitionCannotBeReadIsSetAsideAlone() {
        // Given
        String table = """
            mode: table
            prizes: [{name: P, count: 10}]
            """;
        Draw bad = draws.create(table);
        Draw good = draws.create(table);
        Packet packet = engine.send("alice", 100, 2);
        get(draws.play(0, bad, "bob"));
        String definition = books.strings("select definition::text from draw where id = '" + bad.id() + "'")
                .get(0);
        books.execute("update draw set definition = '{\"mode\": \"roulette\"}' where id = '" + bad.id() + "'");
        long epoch = books.sumOfEpochs();

        // When
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.scriptFlush();
        }
        Eventually.eventually(SOON, () -> assertThat(books.sumOfEpochs()).isGreaterThan(epoch));

        // Then
        assertThat(kind(packet, "bob")).isEqualTo(Kind.CLAIMED);
        assertThat(get(draws.play(0, good, "bob")).kind()).isEqualTo(PlayOutcome.Kind.PLAYED);
        assertThat(units()).containsExactly("draw " + bad.id());
        assertSetAside(draws.play(0, bad, "carol"));
        assertThat(books.sumOfEpochs()).as("one recovery").isEqualTo(epoch + 1);

        // When
        books.execute("update draw set definition = '" + definition + "' where id = '" + bad.id() + "'");
        Eventually.eventually(
                SOON,
                () -> assertThat(Operations.replay(
                                TestEngine.stores(servers), bad.id().value()))
                        .isZero());

        // Then
        Eventually.eventually(
                SOON, () -> assertThat(get(draws.play(0, bad, "carol")).kind()).isEqualTo(PlayOutcome.Kind.PLAYED));
    }

    @Test
    void aDefinitionThatOnlyOneServerCannotReadIsRefusedThereAndIsNotSetAside() {
        // Given a draw that its owner has read
        Draw bad = draws.create("""
            mode: table
            prizes: [{name: P, count: 10}]
            """);
        String definition = books.strings("select definition::text from draw where id = '" + bad.id() + "'")
                .get(0);
        books.execute("update draw set definition = '{}' where id = '" + bad.id() + "'");

        try (TestEngine other = TestEngine.start(servers, 1, OPTIONS)) {
            // When, Then: it has not read the draw before
            assertSetAside(new TestDraws(other).play(0, bad, "bob"));
            assertThat(units()).isEmpty();
            assertThat(other.metrics().get("hongbao.unreadable").counter().count())
                    .isPositive();
            assertThat(get(draws.play(0, bad, "bob")).kind()).isEqualTo(PlayOutcome.Kind.PLAYED);
        } finally {
            books.execute("update draw set definition = '" + definition + "' where id = '" + bad.id() + "'");
        }
    }

    @Test
    void aPacketWhoseTermsCannotBeReadIsSetAsideAlone() throws Exception {
        // Given claims that are accepted and not settled, and a server that has not read their packets before
        Packet bad = engine.send("alice", 1000, 5);
        Packet good = engine.send("alice", 1000, 5);
        get(engine.engine().stopWriter());
        for (Packet packet : List.of(bad, good)) {
            assertThat(get(engine.loop(0)
                                    .call(services ->
                                            services.claims.accept(TestEngine.member("bob"), packet.id(), null)))
                            .kind())
                    .isEqualTo(Kind.ACCEPTED);
        }
        books.execute("update packet set group_id = '..' where id = '" + bad.id() + "'");

        try (TestEngine other = TestEngine.start(servers, 1, OPTIONS)) {
            // When, Then
            assertThat(other.claim(good, "carol").wonClaim().slot()).isEqualTo(1);
            assertThat(other.claim(good, "bob").wonClaim().slot()).isZero();
            assertThat(units()).containsExactly("packet " + bad.id());
            Eventually.eventually(
                    SOON, () -> assertThat(items(bad.id().value())).containsExactly("claim " + bad.id() + " 0 bob"));
            assertThat(books.strings(quarantinedCheck()))
                    .anyMatch(line -> line.startsWith("packet " + bad.id()) && line.contains("cannot be read"));
            assertSetAside(other.claim(0, bad, "carol"));
            assertSetAside(other.loop(0).call(services -> services.packets.view(TestEngine.member("carol"), bad.id())));

            // When, Then: it is not replayed, and nothing is lost, before the cause is mended
            StoreAddresses stores = TestEngine.stores(servers);
            assertThatThrownBy(() -> Operations.replay(stores, bad.id().value()))
                    .hasMessageContaining("a group id is");
            books.execute("update packet set group_id = '" + good.group() + "' where id = '" + bad.id() + "'");
            assertThat(Operations.replay(stores, bad.id().value())).isEqualTo(1);
            Eventually.eventually(
                    SOON,
                    () -> assertThat(other.claim(bad, "carol").wonClaim().slot())
                            .isEqualTo(1));
            assertThat(other.claim(bad, "bob").wonClaim().slot()).isZero();
        }
    }

    @Test
    void aPacketThatCannotBeReadKeepsNobodyFromReadingOthers() {
        // Given
        SendCommand command = TestEngine.lucky(1000, 5, Duration.ofHours(1));
        IdempotencyKey key = TestEngine.newKey();
        Packet bad =
                get(engine.loop(0).call(services -> services.packets.send(TestEngine.member("alice"), command, key)));
        Packet good = engine.send("alice", 1000, 5);
        String committed =
                "commitment = packet_commitment(id, seed, '%s', amount, count, min, max, split, split_version)"
                        + " where id = '" + bad.id() + "'";
        books.execute(
                "update packet set recipients = '{}', kind = 'exclusive', asset = '?', " + committed.formatted("?"));

        try (TestEngine other = TestEngine.start(servers, 1, OPTIONS)) {
            // When a sender lists her packets
            List<String> sent = get(other.loop(0)
                            .call(services -> services.packets.ownOf(
                                    new UserId("alice"), PacketService.Period.ALL, null, null, null, 100)))
                    .items()
                    .stream()
                    .map(view -> view.packet().id().toString())
                    .toList();

            // Then
            assertThat(sent)
                    .contains(good.id().toString())
                    .doesNotContain(bad.id().toString());

            // Then it is not set aside for servers that can read it, and a repeated send is no fault
            assertThat(units()).isEmpty();
            assertSetAside(
                    other.loop(0).call(services -> services.packets.send(TestEngine.member("alice"), command, key)));
            assertSetAside(other.loop(0).call(services -> services.packets.view(TestEngine.member("carol"), bad.id())));
            assertSetAside(other.claim(0, bad, "carol"));
            assertThat(other.claim(good, "bob").kind()).isEqualTo(Kind.CLAIMED);
        } finally {
            books.execute("update packet set recipients = null, kind = 'lucky', asset = 'CNY', "
                    + committed.formatted("CNY"));
        }
    }
}
