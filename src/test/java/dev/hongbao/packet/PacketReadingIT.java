package dev.hongbao.packet;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.GROUP;
import static dev.hongbao.testing.TestEngine.get;
import static dev.hongbao.testing.TestEngine.member;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hongbao.packet.Claim.AcceptedClaims;
import dev.hongbao.packet.Claim.ClaimOutcome;
import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Members;
import dev.hongbao.values.PacketId;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.pgclient.PgBuilder;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import io.vertx.sqlclient.Tuple;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a page of packets costs: one query, and no amount of a slot. And what a share of a large packet costs: its block. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PacketReadingIT {
    private static final int EACH = 5;
    private static final int LARGE = 2500;
    private static final int MANY = 60;

    private final List<Packet> sent = new ArrayList<>();
    private TestServers servers;
    private TestEngine engine;

    @BeforeAll
    void openDrainedAndRefundedPackets(TestServers given) {
        servers = given;
        engine = TestEngine.start(servers, 1, Map.of());
        engine.deposit("alice", 1_000_000);
        Books books = new Books(servers);
        for (int i = 0; i < EACH; i++) {
            Packet refunded = send(1000, 3);
            claim(refunded, "bob");
            books.expire(refunded);
            books.awaitClosed(refunded);
        }
        for (int i = 0; i < EACH; i++) {
            Packet drained = send(1000, 3);
            claim(drained, "bob");
            claim(drained, "alice");
            claim(drained, "carol");
        }
        for (int i = 0; i < EACH; i++) {
            claim(send(1000, 3), "bob");
        }
        eventually(
                Duration.ofSeconds(10),
                () -> assertThat(books.longOf("select count(*) from unannounced"))
                        .isZero());
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    private Packet send(long amount, int count) {
        Packet packet = engine.send("alice", amount, count);
        sent.add(packet);
        return packet;
    }

    private Future<Packet> sending(String sender) {
        SendCommand command = TestEngine.lucky(100, 2, Duration.ofHours(1));
        return engine.loop(0).call(services -> services.packets.send(member(sender), command, TestEngine.newKey()));
    }

    private Claim claim(Packet packet, String user) {
        return engine.claim(packet, user).wonClaim();
    }

    @Test
    void aPageIsOneQueryAndReadsNoAmounts() throws Exception {
        // Given
        CountingPool counted = new CountingPool(engine.engine().pool());
        Caller bob = member("bob");
        UserId alice = new UserId("alice");

        try (Connection locked = TestDatabase.lock(servers.postgresOwnerUrl(), "packet_amounts")) {
            // When, Then
            List<PacketView> own = oneQuery(
                            counted,
                            () -> counted.service().ownOf(alice, PacketService.Period.ALL, null, null, null, 200))
                    .items();
            assertSeen(own, "alice");
            List<PacketView> group =
                    oneQuery(counted, () -> counted.service().newest(bob, GROUP, Members.of(GROUP), 200)).stream()
                            .filter(view -> view.packet().sender().equals(alice))
                            .toList();
            assertSeen(group, "bob");
            List<PacketService.OwnClaim> mine = oneQuery(
                            counted,
                            () -> counted.service().claimsOf(bob.user(), PacketService.Period.ALL, null, null, 200))
                    .items();
            assertThat(mine).hasSize(3 * EACH);
            for (PacketView view : group) {
                assertThat(oneQuery(
                                        counted,
                                        () -> counted.service()
                                                .view(bob, view.packet().id()))
                                .claimedAmount())
                        .isEqualTo(view.claimedAmount());
            }
            locked.rollback();
        }
    }

    private static <T> T oneQuery(CountingPool counted, Supplier<Future<T>> page) {
        counted.take();
        T answer = get(page.get());
        assertThat(counted.take()).as("queries").isEqualTo(1);
        return answer;
    }

    private void assertSeen(List<PacketView> views, String viewer) {
        assertThat(views).hasSize(3 * EACH);
        IntStream.range(0, views.size()).forEach(i -> {
            PacketView view = views.get(i);
            int first = 3 * EACH - 1 - i;
            Packet packet = sent.get(first);
            assertThat(view.packet().id()).isEqualTo(packet.id());
            PacketView.Status status = List.of(
                            PacketView.Status.REFUNDED, PacketView.Status.DRAINED, PacketView.Status.OPEN)
                    .get(first / EACH);
            assertThat(view.status()).isEqualTo(status);
            assertThat(view.claimedCount()).isEqualTo(status == PacketView.Status.DRAINED ? 3 : 1);
            assertThat(view.seed() != null).as("the seed is told").isEqualTo(status != PacketView.Status.OPEN);
            boolean has = viewer.equals("bob") || status == PacketView.Status.DRAINED;
            int slot = viewer.equals("bob") ? 0 : 1;
            if (has) {
                Claim mine = Objects.requireNonNull(view.mine());
                assertThat(List.of(mine.user().value(), mine.slot(), mine.amount()))
                        .containsExactly(viewer, slot, packet.amountOf(slot));
            } else {
                assertThat(view.mine()).isNull();
            }
            if (has || status == PacketView.Status.REFUNDED) {
                assertThat(view.claimedAmount())
                        .isEqualTo(status == PacketView.Status.DRAINED ? 1000 : packet.amountOf(0));
            } else {
                assertThat(view.claimedAmount()).isNull();
            }
            if (status == PacketView.Status.DRAINED) {
                int luckiest = IntStream.range(0, 3)
                        .boxed()
                        .max(Comparator.comparingLong(packet::amountOf).thenComparing(Comparator.reverseOrder()))
                        .orElseThrow();
                assertThat(Objects.requireNonNull(view.luckiest()).slot()).isEqualTo(luckiest);
            } else {
                assertThat(view.luckiest()).isNull();
            }
        });
    }

    @Test
    void ofALargePacketOnlyTheBlockOfTheShareIsRead() {
        // Given a packet whose amounts are not at hand
        engine.deposit("carla", 1_000_000);
        Packet large = engine.send("carla", 1_000_000, LARGE);
        CountingPool counted = new CountingPool(engine.engine().pool());
        PacketCatalog catalog = new PacketCatalog(new PacketStore(counted.pool()));
        Packet read = Objects.requireNonNull(get(catalog.find(large.id())));
        counted.take();

        // When
        long amount = get(catalog.amountOf(read, 2100));

        // Then
        assertThat(amount).isEqualTo(large.amountOf(2100));
        assertThat(counted.take()).as("queries").isEqualTo(1);
        assertThat(read.amounts().atHand()).isEqualTo(1500);

        // When the whole packet is settled, Then the rest is read, once
        var drained = List.of(new AcceptedClaims(large.id(), 0, Collections.nCopies(LARGE, new UserId("bob"))));
        Map<PacketId, Packet> all = get(catalog.findWithAmounts(drained));
        get(catalog.findWithAmounts(drained));
        assertThat(counted.take()).as("queries").isEqualTo(1);
        Packet whole = Objects.requireNonNull(all.get(large.id()));
        assertThat(LongStream.range(0, LARGE).map(slot -> whole.amountOf((int) slot)))
                .containsExactlyElementsOf(LongStream.range(0, LARGE)
                        .map(slot -> large.amountOf((int) slot))
                        .boxed()
                        .toList());
    }

    @Test
    void aClaimIsOneRowHoweverManyTheirPacketAndTheirUserHave() {
        // Given a packet of many, and one who has claimed many
        engine.deposit("dave", 2_000_000);
        Packet large = engine.send("dave", 1_000_000, MANY);
        List<Future<ClaimOutcome>> claimed = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            claimed.add(engine.claim(0, large, "user-" + i));
            claimed.add(sending("dave").compose(packet -> engine.claim(0, packet, "user-0")));
        }
        claimed.forEach(claim -> get(claim).wonClaim());
        new Books(servers).execute("analyze");
        List<UserId> users =
                IntStream.range(0, MANY).mapToObj(i -> new UserId("user-" + i)).toList();

        // When they are looked up
        Pool one = oneTransaction();
        List<Claim> claims = get(new PacketStore(one)
                .claims(users.stream()
                        .map(user -> new Claim.Key(large.id(), user))
                        .toList()));

        // Then
        assertThat(claims).extracting(Claim::user).containsExactlyElementsOf(users);
        assertThat(rowsRead(one, "transfer")).isEqualTo(MANY);
        get(one.close());
    }

    @Test
    void toWriteAPacketReadsItsOwnAccountsHoweverManyThereHaveComeToBe() {
        // Given a connection that has written a packet while there were few accounts, so that its plans are of then
        engine.deposit("frank", 1_000);
        Packet like = engine.send("frank", 100, 2);
        Pool one = oneTransaction();
        writeLike(one, like);
        long few = rowsRead(one, "account");

        // When there are many, which Postgres has not analyzed yet
        get(one.query("insert into account (kind, owner, asset) select 'wallet', 'frank-' || n, 'CNY'"
                        + " from generate_series(1, 2000) as n")
                .execute());
        long before = rowsRead(one, "account");
        writeLike(one, like);

        // Then
        assertThat(rowsRead(one, "account") - before).as("rows read").isLessThanOrEqualTo(few);
        get(one.close());
    }

    /** Another packet just like this one, with an escrow of its own, and no money in it. */
    private static void writeLike(Pool one, Packet like) {
        UUID id = UUID.randomUUID();
        Tuple ids = Tuple.of(id, like.id().value());
        get(one.preparedQuery("insert into account (kind, owner, asset) select 'escrow', $1::uuid::text, asset"
                        + " from packet where id = $2")
                .execute(ids));
        get(one.preparedQuery("insert into packet_amounts (packet, block, amounts) select $1, block, amounts"
                        + " from packet_amounts where packet = $2")
                .execute(ids));
        get(one.preparedQuery(
                        "insert into packet (id, shard, group_id, sender, kind, asset, amount, count, min, max, split,"
                                + " split_version, seed, commitment, luckiest, greeting, escrow, refund_to, opens_at, expires_at)"
                                + " select $1, p.shard, p.group_id, p.sender, p.kind, p.asset, p.amount, p.count, p.min, p.max, p.split,"
                                + " p.split_version, p.seed, packet_commitment($1, p.seed, p.asset, p.amount, p.count, p.min, p.max,"
                                + " p.split, p.split_version), p.luckiest, p.greeting,"
                                + " (select a.id from account as a where a.owner = $1::uuid::text and a.kind = 'escrow'),"
                                + " p.refund_to, p.opens_at, p.expires_at from packet as p where p.id = $2")
                .execute(ids));
    }

    @Test
    void toTellOfAPacketReadsNoOther() {
        // Given
        engine.deposit("erin", 1_000_000);
        Stream.generate(() -> sending("erin")).limit(MANY).toList().forEach(sending -> get(sending));
        Packet told = engine.send("erin", 100, 2);
        new Books(servers).execute("analyze");

        // When
        Pool one = oneTransaction();
        get(one.preparedQuery("select feed_append(array[$1], array['packet.progress'], array[$2::uuid], array[1])")
                .execute(Tuple.of(GROUP.value(), told.id().value())));

        // Then
        assertThat(rowsRead(one, "packet")).isEqualTo(1);
        get(one.close());
    }

    @Test
    void claimsOfAPastPeriodReadNoLaterMonth() {
        Pool one = oneTransaction();
        PacketService.Period past = new PacketService.Period(null, Instant.parse("2020-01-01T00:00:00Z"));

        assertThat(get(new CountingPool(one).service().claimsOf(new UserId("bob"), past, null, null, 50))
                        .items())
                .isEmpty();

        assertThat(rowsRead(one, "transfer")).isZero();
        get(one.close());
    }

    @Test
    void ofAPeriodOneListOfAUserIsReadAtATime() {
        // Given a list that is being read: it takes as long as the user has claims
        PacketService service = new CountingPool(engine.engine().pool()).service();
        UserId bob = new UserId("bob");
        PacketService.Period period = new PacketService.Period(Instant.parse("2020-01-01T00:00:00Z"), null);
        var first = service.claimsOf(bob, period, null, null, 10);

        // When, Then another one is refused, and nobody else's, nor what is read from its newest on
        var second = service.claimsOf(bob, period, null, null, 10);
        var other = service.claimsOf(new UserId("alice"), period, null, null, 10);
        var all = service.claimsOf(bob, PacketService.Period.ALL, null, null, 10);
        assertThatThrownBy(() -> get(second)).hasStackTraceContaining("under way");
        assertThat(get(other).items()).isNotEmpty();
        assertThat(get(all).items()).hasSize(10);
        assertThat(get(first).items()).hasSize(10);

        // And when it was read, it may be again
        assertThat(get(service.claimsOf(bob, period, null, null, 10)).items()).hasSize(10);
    }

    /** A pool of one connection that is in a transaction, so that it tells what it has read. */
    private Pool oneTransaction() {
        Pool one = PgBuilder.pool()
                .with(new PoolOptions().setMaxSize(1))
                .connectingTo(PostgresAddress.of(servers.postgresAppUrl()).connectOptions())
                .using(engine.vertx())
                .build();
        get(one.query("begin").execute());
        return one;
    }

    private static long rowsRead(Pool one, String table) {
        return get(one.preparedQuery(
                                "select sum(seq_tup_read + idx_tup_fetch)::bigint from pg_stat_xact_user_tables"
                                        + " where relid = $1::text::regclass or relid in (select relid from pg_partition_tree($1::text::regclass))")
                        .execute(Tuple.of(table)))
                .iterator()
                .next()
                .getLong(0);
    }
}
