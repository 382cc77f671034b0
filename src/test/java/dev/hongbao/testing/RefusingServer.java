package dev.hongbao.testing;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** A rule in Postgres that refuses some rows, as a constraint does that nobody foresaw. Ends with {@link #close}. */
public final class RefusingServer implements AutoCloseable {
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final Books books;
    private final String name = "test_refuses_" + COUNT.incrementAndGet();
    private final String table;

    private RefusingServer(Books books, String table) {
        this.books = books;
        this.table = table;
    }

    /**
     * From now on.
     *
     * @param when a condition on {@code new}, the row that is written
     * @param sqlState of the refusal
     */
    public static RefusingServer rows(Books books, String table, String when, String sqlState) {
        RefusingServer refusing = new RefusingServer(books, table);
        books.execute("create function " + refusing.name + "() returns trigger language plpgsql as $$ begin"
                + " if " + when + " then raise exception 'the test refuses it' using errcode = '" + sqlState
                + "'; end if;"
                + " return new; end $$");
        books.execute("create trigger " + refusing.name + " before insert or update on " + table
                + " for each row execute function " + refusing.name + "()");
        return refusing;
    }

    /** Mended. Idempotent. */
    @Override
    public void close() {
        // Postgres ends it, or what the server does meanwhile, when each waits for the other.
        Eventually.eventually(SOON, () -> books.execute("drop trigger if exists " + name + " on " + table));
        books.execute("drop function if exists " + name + "()");
    }
}
