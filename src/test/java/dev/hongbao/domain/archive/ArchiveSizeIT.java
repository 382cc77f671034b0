package dev.hongbao.domain.archive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.engine.postgres.PostgresAddress;
import dev.hongbao.testing.Books;
import dev.hongbao.testing.Servers;
import dev.hongbao.testing.TestEngine;
import dev.hongbao.testing.TestServers;
import java.nio.file.Path;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A month of many claims is archived and read back in little memory. Prints what the guide tells; more claims with -Darchive.claims. */
@ExtendWith(Servers.class)
class ArchiveSizeIT {
    private static final int CLAIMS = Integer.getInteger("archive.claims", 200_000);

    /** Of a packet. */
    private static final int SHARES = 100;

    private static final int WALLETS = 10_000;
    private static final long MOST_LIVE_BYTES = 16L << 20;

    /** Claims and shares as they are written, without all that is around them; a wallet has one of a packet. */
    private static final String FILL = """
            alter table transfer disable trigger user;
            alter table packet_amounts disable trigger user;
            select make_month(t.parent, date '%1$s') from month_tables() as t;
            insert into account (kind, owner, asset) values ('source', 'past', 'CNY');
            insert into account (kind, owner, asset) select 'wallet', 'w' || n, 'CNY' from generate_series(1, %4$d) as n;
            create temporary table wallets as select row_number() over (order by id) - 1 as n, id from account where owner ~ '^w[0-9]';
            create temporary table packets as
                select n, first_uuid(timestamptz '%1$s 00:00 UTC' + n * interval '20 milliseconds') as id
                from generate_series(0, %2$d / %3$d - 1) as n;
            insert into transfer (subject, debit, credit, amount, kind, slot)
            select p.id, (select id from account where owner = 'past'), w.id, 1 + s.n, 'claim', s.n
            from packets as p cross join generate_series(0, %3$d - 1) as s(n)
            join wallets as w on w.n = (p.n * %3$d + s.n) %% %4$d;
            insert into packet_amounts select p.id, 0, array(select generate_series(1, %3$d)) from packets as p;
            update checkpoint set transfer = (select max(id) from transfer);
            """;

    @TempDir
    Path folder;

    private final AtomicLong mostLiveBytes = new AtomicLong();

    @Test
    void aLargeMonthTakesLittleMemory(TestServers servers) throws Exception {
        // Given
        YearMonth month = YearMonth.now(ZoneOffset.UTC).minusMonths(2);
        TestEngine.start(servers, 1, Map.of("shards", "1")).close();
        Books books = new Books(servers);
        books.execute(FILL.formatted(month.atDay(1), CLAIMS, SHARES, WALLETS));
        double bytes = books.longOf(
                "select sum(pg_total_relation_size(p.part::regclass)) from month_parts('" + month.atDay(1) + "') as p");

        try (Archiver archiver = Archiver.open(PostgresAddress.of(servers.postgresOwnerUrl()), folder)) {
            // When
            long beganNanos = System.nanoTime();
            Archiver.Archived archived = watched(() -> archiver.archive(month));
            long archivedNanos = System.nanoTime();
            assertThat(watched(archiver::verify)).isEmpty();
            long readNanos = System.nanoTime();

            // Then
            System.out.printf(
                    Locale.ROOT,
                    "archive: %d rows, %.0f MB of tables, were archived in %.1f s and read back in %.1f s, with %.1f MB of live heap%n",
                    archived.rows(),
                    bytes / 1e6,
                    (archivedNanos - beganNanos) / 1e9,
                    (readNanos - archivedNanos) / 1e9,
                    mostLiveBytes.get() / 1e6);
            assertThat(archived.rows()).isEqualTo(CLAIMS + CLAIMS / SHARES);
            assertThat(mostLiveBytes.get()).isLessThan(MOST_LIVE_BYTES);
        }
    }

    /** Looks at the heap now and then meanwhile: at what is live in it, more than before. */
    private <T> T watched(Callable<T> work) throws Exception {
        long before = liveBytes();
        ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor();
        watch.scheduleWithFixedDelay(
                () -> mostLiveBytes.accumulateAndGet(liveBytes() - before, Math::max), 0, 200, TimeUnit.MILLISECONDS);
        try {
            return work.call();
        } finally {
            watch.shutdownNow();
            assertThat(watch.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static long liveBytes() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
