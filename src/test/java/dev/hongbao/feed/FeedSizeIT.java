package dev.hongbao.feed;

import static dev.hongbao.testing.TestEngine.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.store.postgres.Sweep;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A table that lives for a day does not grow by being swept: days of events pass through the feeds, removed as the servers do, and vacuumed
 * when Postgres' autovacuum would do it. Prints what the guide tells.
 */
@ExtendWith(Servers.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FeedSizeIT {
    private static final int HOURS = 24;
    private static final int DAYS = 4;
    private static final int EVENTS_OF_A_GROUP_AN_HOUR = 20;

    /** Of all groups; more with -Dfeed.events. */
    private static final int EVENTS_AN_HOUR = Integer.getInteger("feed.events", 1_000);

    private static final int GROUPS = EVENTS_AN_HOUR / EVENTS_OF_A_GROUP_AN_HOUR;

    /** As autovacuum_vacuum_threshold and autovacuum_vacuum_scale_factor are by default. */
    private static final int THRESHOLD = 50;

    private static final double SCALE = 0.2;

    private Books books;
    private TestEngine engine;
    private FeedStore store;

    @BeforeAll
    void start(TestServers servers) {
        books = new Books(servers);
        // The server itself removes nothing meanwhile
        engine = TestEngine.start(servers, 1, Map.of("shards", "1", "feed.retention", "30d"));
        store = new FeedStore(engine.engine().pool());
        books.execute("alter table group_event set (autovacuum_enabled = off)");
    }

    @AfterAll
    void stop() {
        engine.close();
    }

    @Test
    void aStatementRemovesTheOldestAndAPageOfThemAtTheMost() {
        // Given
        books.execute(
                "delete from group_event; delete from feed; insert into feed (group_id, last) values ('many', 30)");
        books.execute(
                "insert into group_event (group_id, seq, type, subject, claimed, at) select 'many', n, 'packet.sent',"
                        + " gen_random_uuid(), 0, now() - interval '1 day' * case when n <= 7 then 2 else 0 end from generate_series(1, 30) as n");
        String left =
                "select min(e.seq) || ' ' || f.floor from group_event as e join feed as f on f.group_id = e.group_id"
                        + " where e.group_id = 'many' group by f.floor";

        // When those that are old go, five at a time; and then those beyond the newest ten
        assertThat(books.longOf("select feed_trim(interval '1 day', 100, '0', 5)"))
                .isEqualTo(5);
        assertThat(books.strings(left)).containsExactly("6 5");
        assertThat(books.longOf("select feed_trim(interval '1 day', 100, '0', 5)"))
                .isEqualTo(2);
        assertThat(books.longOf("select feed_trim(interval '1 day', 10, '0', 5)"))
                .isEqualTo(5);
        assertThat(books.strings(left)).containsExactly("13 12");
        assertThat(get(store.trimPage(Duration.ofDays(1), 10, "0"))).isEqualTo(8);

        // Then
        assertThat(books.strings(left)).containsExactly("21 20");
        assertThat(books.longOf("select feed_trim(interval '1 day', 10, '0', 5)"))
                .isZero();
    }

    /** A dump may be restored into a cluster with lower ids of transactions. Its feeds are trimmed once, then not looked at again. */
    @Test
    void aFeedOfAnotherClusterIsTrimmedOnce() {
        // Given
        books.execute("insert into feed (group_id, last, touched)"
                + " select 'restored', 3, (pg_current_xact_id()::text::bigint + 1000000000)::text::xid8;"
                + " insert into group_event (group_id, seq, type, subject, claimed)"
                + " select 'restored', n, 'packet.sent', gen_random_uuid(), 0 from generate_series(1, 3) as n");
        String horizon = get(store.changed(null)).horizon();

        // When, Then
        assertThat(get(store.trimPage(Duration.ofDays(1), 2, horizon))).isZero();
        assertThat(get(store.trimPage(Duration.ofDays(1), 2, "0"))).isPositive();
    }

    @Test
    void whoAsksAfterManyChangesIsNotToldOfEach() {
        String horizon = get(store.changed(null)).horizon();
        books.execute("insert into feed (group_id, last) select 'changed' || n, 5 from generate_series(1, "
                + 2 * FeedStore.MOST_CHANGED + ") as n");

        FeedStore.Changes changes = get(store.changed(horizon));

        assertThat(changes.more()).isTrue();
        assertThat(changes.last()).hasSizeLessThanOrEqualTo(FeedStore.MOST_CHANGED + 1);
    }

    @Test
    void daysOfEventsTakeTheRoomOfOne() {
        books.execute("insert into feed (group_id) select 'g' || n from generate_series(1, " + GROUPS + ") as n");
        String begin = books.strings("select now() - interval '" + DAYS * HOURS + " hours'")
                .get(0);
        List<Long> sizes = new ArrayList<>();
        long dead = 0;
        long removed = 0;
        long trimNanos = 0;
        for (int hour = 0; hour < DAYS * HOURS; hour++) {
            // Given the events of another hour
            append(books, begin, hour);

            // When those that are older than a day then are removed
            Duration keep = Duration.ofHours(DAYS * HOURS - hour + HOURS - 1L).plusMinutes(30);
            String horizon = get(store.changed(null)).horizon();
            long beganNanos = System.nanoTime();
            long gone = get(Sweep.pages(() -> store.trimPage(keep, 1_000, horizon)));
            trimNanos += System.nanoTime() - beganNanos;
            removed += gone;
            dead += gone;
            if (dead > THRESHOLD + SCALE * EVENTS_AN_HOUR * Math.min(hour + 1, HOURS)) {
                books.execute("vacuum group_event");
                dead = 0;
            }
            sizes.add(books.longOf("select pg_total_relation_size('group_event')"));
        }

        // Then
        long second = Collections.max(sizes.subList(HOURS, 2 * HOURS));
        long last = Collections.max(sizes.subList((DAYS - 1) * HOURS, DAYS * HOURS));
        long day = books.longOf("select count(*) from group_event where group_id ~ '^g[0-9]'");
        System.out.printf(
                Locale.ROOT,
                "feeds: %d events of a day take %.1f MB on the fourth day, and took %.1f MB on the second; %d were removed, %.0f a second%n",
                day,
                last / 1e6,
                second / 1e6,
                removed,
                removed / (trimNanos / (double) TimeUnit.SECONDS.toNanos(1)));
        assertThat(removed).isEqualTo((DAYS - 1) * HOURS * (long) EVENTS_AN_HOUR);
        assertThat(last).isLessThan(second + second / 10);
    }

    private static void append(Books books, String begin, int hour) {
        books.execute("insert into group_event (group_id, seq, type, subject, claimed, at)"
                + " select 'g' || g, " + hour * EVENTS_OF_A_GROUP_AN_HOUR
                + " + n, 'packet.sent', gen_random_uuid(), 0, timestamptz '" + begin + "' + interval '" + hour
                + " hours'"
                + " from generate_series(1, " + GROUPS + ") as g cross join generate_series(1, "
                + EVENTS_OF_A_GROUP_AN_HOUR + ") as n");
        books.execute("update feed set last = last + " + EVENTS_OF_A_GROUP_AN_HOUR + " where group_id ~ '^g[0-9]'");
    }
}
