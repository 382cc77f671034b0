package dev.hongbao.feed;

import static dev.hongbao.testing.Eventually.eventually;
import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.campaign.Rain;
import dev.hongbao.engine.Loop;
import dev.hongbao.engine.Shards;
import dev.hongbao.feed.FeedOwnerTask.CatchUp.OpenPacket;
import dev.hongbao.packet.Packet;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestDatabase;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestRains;
import dev.hongbao.testing.TestServers;
import dev.hongbao.values.PacketId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

/** The owner's work for the feeds delays none of its other work. */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FeedOwnerTaskIT {
    private static final Duration SOON = Duration.ofSeconds(10);
    /** A lock on this row makes a trim of the group wait. */
    private static final String STUCK = "feed where group_id = 'stuck'";

    private static final String OLD_EVENTS = "select count(*) from group_event where group_id = 'stuck'";

    private Books books;
    private TestEngine engine;
    private FeedStore store;
    private Shards shards;

    @BeforeAll
    void start(TestServers servers) {
        books = new Books(servers);
        // The server itself removes nothing meanwhile
        engine = TestEngine.start(servers, 1, Map.of("shards", "1", "feed.retention", "30d"));
        engine.deposit("alice", 1_000_000);
        Pool pool = engine.engine().pool();
        store = new FeedStore(pool);
        shards = engine.shards(1, "load");
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    private FeedTrimmer trimmer() {
        return new FeedTrimmer(store, store, Duration.ofDays(1), 1_000, Duration.ZERO);
    }

    private FeedOwnerTask task(FeedTrimmer trimmer) {
        return new FeedOwnerTask(Loop.of(engine.vertx()), store, shards, packet -> false, trimmer::trimIfDue);
    }

    private Future<Void> run(FeedOwnerTask task) {
        return engine.loop(0).call(services -> task.run(List.of(0), services.redis));
    }

    private long told(Packet packet, String type) {
        return books.longOf("select count(*) from group_event where subject = '%s' and type = 'packet.%s'"
                .formatted(packet.id(), type));
    }

    private void awaitTold(Packet packet, String type) {
        eventually(SOON, () -> assertThat(told(packet, type)).isOne());
    }

    /** As if no server had told of it for a minute. */
    private void forgetTold(Packet packet) {
        books.execute("delete from group_event where subject = '%1$s' and type = 'packet.sent';".formatted(packet.id())
                + " insert into unannounced values ('%s', now() - interval '1 minute')".formatted(packet.id()));
    }

    private void givenOldEvents(int events) {
        books.execute("delete from group_event where group_id = 'stuck'; delete from feed where group_id = 'stuck'");
        books.execute("insert into feed (group_id, last) values ('stuck', " + events + ")");
        books.execute("insert into group_event (group_id, seq, type, subject, claimed, at) select 'stuck', n,"
                + " 'packet.sent', gen_random_uuid(), 0, now() - interval '2 days' from generate_series(1, " + events
                + ") as n");
    }

    private long trimsThatWait() {
        return books.longOf(
                "select count(distinct l.pid) from pg_locks as l"
                        + " join pg_stat_activity as a on a.pid = l.pid and a.datname = current_database() where not l.granted");
    }

    @Test
    void nobodyWaitsForATrimAndOneIsUnderWayAtATime(TestServers servers) throws SQLException {
        // Given a trim that does not come to its end
        givenOldEvents(10);
        FeedTrimmer trimmer = trimmer();
        FeedOwnerTask task = task(trimmer);
        try (Connection holder = TestDatabase.lockRows(servers.postgresOwnerUrl(), STUCK)) {
            // When the owner's task is run again and again
            get(run(task));
            eventually(SOON, () -> assertThat(trimsThatWait()).isOne());
            get(run(task));
            get(run(task));

            // Then
            assertThat(trimsThatWait()).isOne();
            holder.commit();
        }
        eventually(SOON, () -> assertThat(books.longOf(OLD_EVENTS)).isZero());
        get(trimmer.close());
    }

    @Test
    void aTrimEndsWithThePageThatIsUnderWayWhenTheServerStops(TestServers servers) throws SQLException {
        // Given more than a page, of which the first one is under way
        givenOldEvents(2_500);
        FeedTrimmer trimmer = trimmer();
        Future<Void> closed;
        try (Connection holder = TestDatabase.lockRows(servers.postgresOwnerUrl(), STUCK)) {
            trimmer.trimIfDue();
            eventually(SOON, () -> assertThat(trimsThatWait()).isOne());

            // When
            closed = trimmer.close();
            assertThat(closed.isComplete()).isFalse();
            holder.commit();
        }

        // Then
        get(closed);
        assertThat(books.longOf(OLD_EVENTS)).isEqualTo(1_500);
        trimmer.trimIfDue();
        get(trimmer.close());
        assertThat(books.longOf(OLD_EVENTS)).isEqualTo(1_500);
    }

    @Test
    void whatCannotBeCaughtUpWithKeepsNobodyFromAnnouncingPackets(TestServers servers) {
        // Given a packet that nobody has announced, while claims that were settled elsewhere cannot be read
        Packet packet = engine.send("alice", 100, 2);
        awaitTold(packet, "sent");
        String app = URI.create(servers.postgresAppUrl()).getUserInfo().split(":")[0];
        get(engine.engine().stopWriter());
        books.execute("revoke select on transfer from " + app);
        try {
            forgetTold(packet);
            FeedOwnerTask task = task(trimmer());

            // When
            eventually(SOON, () -> {
                assertThat(run(task).toCompletionStage().toCompletableFuture())
                        .failsWithin(SOON)
                        .withThrowableThat()
                        .withMessageContaining("transfer");

                // Then
                assertThat(told(packet, "sent")).isOne();
            });
        } finally {
            books.execute("grant select on transfer to " + app);
            get(engine.engine().startWriter());
        }
    }

    @Test
    void aForgottenPacketWithClaimsIsAnnouncedAndNotLoadedWithoutThem(TestServers servers) {
        // Given a packet that an operator's replay has just settled: nobody has announced it, and Redis lacks it
        Packet packet = engine.send("alice", 100, 2);
        engine.claim(packet, "bob");
        awaitTold(packet, "progress");
        get(engine.engine().stopWriter());
        try (Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            redis.keys("*:p:" + packet.id()).forEach(redis::del);
            forgetTold(packet);
            FeedOwnerTask task = task(trimmer());

            // When
            eventually(SOON, () -> {
                get(run(task));
                assertThat(told(packet, "sent")).isOne();
            });

            // Then no slot is given again
            assertThat(redis.keys("*:p:" + packet.id())).isEmpty();
        } finally {
            get(engine.engine().startWriter());
        }
        assertThat(engine.claim(packet, "carol").wonClaim().slot()).isOne();
    }

    @Test
    void aPacketThatIsOverIsNotAnnouncedBeforeItsRefundIsPaid(TestServers servers) throws SQLException {
        // Given an unannounced packet that was ended early while somebody held its sender's wallet
        Packet over = engine.send("alice", 100, 2);
        Packet open = engine.send("alice", 100, 2);
        String events =
                "from group_event where type in ('packet.sent', 'packet.refunded') and subject = '" + over.id() + "'";
        awaitTold(open, "sent");
        get(engine.engine().stopWriter());
        try (Connection holder = TestDatabase.lockRows(servers.postgresOwnerUrl(), "account where owner = 'alice'");
                Jedis redis = new Jedis(URI.create(servers.redisUrl()))) {
            forgetTold(over);
            forgetTold(open);
            books.execute(
                    "select settle_closes(array[id], array[epoch], array[nonce], array[last_seq], array[last_seq],"
                            + " array['" + over.id() + "']::uuid[], array['closed'], array['shop']) from shard");
            assertThat(books.longOf("select count(*) from refund_due where packet = '" + over.id() + "'"))
                    .isOne();
            redis.keys("*:p:" + over.id()).forEach(redis::del);
            FeedOwnerTask task = task(trimmer());

            // When another one is announced
            eventually(SOON, () -> {
                get(run(task));
                assertThat(told(open, "sent")).isOne();
            });

            // Then
            assertThat(books.longOf("select count(*) " + events)).isZero();
            assertThat(redis.keys("*:p:" + over.id())).isEmpty();
            assertThat(holder.isClosed()).isFalse();
        } finally {
            get(engine.engine().startWriter());
        }

        // And with its refund it is told from its beginning
        eventually(
                SOON,
                () -> assertThat(books.strings("select type " + events + " order by seq"))
                        .containsExactly("packet.sent", "packet.refunded"));
    }

    @Test
    void shardsTakeTurnsWithTheirUnannouncedPackets() {
        // Given two unannounced packets of a shard, and one of another shard that waits for less long
        List<Packet> packets = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            packets.add(engine.send("alice", 100, 2));
        }
        String theirs = "from unannounced where packet in (select id from packet where sender = 'alice')";
        eventually(
                SOON,
                () -> assertThat(books.longOf("select count(*) " + theirs)).isZero());
        get(engine.engine().stopWriter());
        try {
            books.execute(
                    "update packet set shard = 1 where id = '" + packets.get(2).id() + "'");
            for (int i = 0; i < 3; i++) {
                books.execute("insert into unannounced values ('"
                        + packets.get(i).id() + "', now() - interval '1 minute' * " + (9 - i) + ")");
            }

            // When there is room for two
            Map<Integer, List<PacketId>> taken = get(store.unannounced(List.of(0, 1), Duration.ofSeconds(1), 2));

            // Then each shard has the packet that waits longest
            assertThat(taken)
                    .isEqualTo(Map.of(
                            0, List.of(packets.get(0).id()),
                            1, List.of(packets.get(2).id())));
        } finally {
            books.execute("delete " + theirs + "; update packet set shard = 0 where shard = 1");
            get(engine.engine().startWriter());
        }
    }

    @Test
    void aDropThatExpiredUnannouncedIsNotAnnounced() {
        // Given a drop whose time ran out while no server announced it, and an older packet that nobody has announced
        get(engine.engine().stopWriter());
        try {
            TestRains rains = new TestRains(engine);
            Rain rain = rains.create(rains.host("rainmaker", 50), TestRains.definition(60, 1, 5, 1))
                    .rain();
            books.execute(
                    "update packet set opens_at = now() - interval '1 minute', expires_at = now() - interval '1 second'"
                            + " where group_id = '" + rain.channel() + "'");
            Packet packet = engine.send("alice", 100, 2);
            awaitTold(packet, "sent");
            forgetTold(packet);
            books.execute("update unannounced set sent_at = now() - interval '1 minute'");
            FeedOwnerTask task = task(trimmer());

            // When
            eventually(SOON, () -> {
                get(run(task));
                assertThat(told(packet, "sent")).isOne();
            });

            // Then
            assertThat(books.longOf("select count(*) from group_event where type = 'packet.sent' and group_id = '"
                            + rain.channel() + "'"))
                    .isZero();
        } finally {
            get(engine.engine().startWriter());
        }
    }

    @Test
    void openPacketsAreReadPageByPageAndWithWhetherTheirFeedIsBehind() {
        // Given three open packets, a claim on one of them that the feed has lost, and a packet that is over
        List<Packet> packets = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            packets.add(engine.send("alice", 100, 2));
        }
        engine.claim(packets.get(1), "bob");
        awaitTold(packets.get(1), "progress");
        books.execute("delete from group_event where type = 'packet.progress' and subject = '"
                + packets.get(1).id() + "'");
        Packet over = engine.send("alice", 100, 1);
        engine.claim(over, "bob");

        // When they are read two at a time
        List<OpenPacket> read = new ArrayList<>();
        UUID place = new UUID(0, 0);
        List<OpenPacket> page;
        do {
            page = get(store.open(Map.of(0, place), 2));
            assertThat(page).hasSizeLessThanOrEqualTo(2);
            read.addAll(page);
            place = read.get(read.size() - 1).packet().value();
        } while (page.size() == 2);

        // Then
        assertThat(read).extracting(OpenPacket::packet).doesNotHaveDuplicates().doesNotContain(over.id());
        assertThat(read)
                .filteredOn(packet -> packets.stream().anyMatch(one -> one.id().equals(packet.packet())))
                .extracting(OpenPacket::isBehind)
                .containsExactly(false, true, false);
    }
}
