package dev.hongbao.domain.archive;

import dev.hongbao.common.values.Sha256;
import dev.hongbao.engine.postgres.PostgresAddress;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Archives a month in three steps, each a transaction or a file: it is sealed, and takes no rows from then on; its files are written, the
 * manifest last; and its rows are dropped, together with the note of what they added up to. Whoever is stopped between or within them
 * leaves the whole month in the database or the whole month archived, and a second run goes on. Blocking; not for more than one thread.
 */
public final class Archiver implements AutoCloseable {
    /** Somebody reads or writes the tables, and did not end in time (SQLSTATE lock_not_available). */
    private static final String BUSY = "55P03";

    /** What stands in the way. */
    private static final String HINDERED = "HB005";

    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final long PAUSE_MILLIS = 500;

    private final ArchiveDatabase database;
    private final ArchiveFolder folder;

    /**
     * What was archived.
     *
     * @param manifest SHA-256 of the manifest
     * @param rows of all files; -1 for a month that was archived before
     */
    public record Archived(YearMonth month, String manifest, long rows) {
        /** Whether this run found it archived. */
        public boolean wasBefore() {
            return rows < 0;
        }
    }

    private Archiver(ArchiveDatabase database, ArchiveFolder folder) {
        this.database = database;
        this.folder = folder;
    }

    /**
     * Connects.
     *
     * @param folder of the files; made when it is not there
     * @throws ArchiveHinderedException when somebody else is at it
     */
    public static Archiver open(PostgresAddress owner, Path folder) throws SQLException {
        return new Archiver(ArchiveDatabase.open(owner), new ArchiveFolder(folder));
    }

    /**
     * Archives a month, or goes on where an earlier run was stopped. Idempotent.
     *
     * @throws ArchiveHinderedException when something stands in the way; then nothing has changed
     */
    public Archived archive(YearMonth month) throws SQLException, IOException {
        Optional<ArchiveDatabase.Month> known = find(month);
        if (known.isEmpty()) {
            seal(month);
        } else if (known.get().archived()) {
            return new Archived(month, String.valueOf(known.get().manifest()), -1);
        }
        return finish(write(month));
    }

    private Optional<ArchiveDatabase.Month> find(YearMonth month) throws SQLException {
        return database.months().stream()
                .filter(each -> each.month().equals(month))
                .findFirst();
    }

    void seal(YearMonth month) throws SQLException {
        patiently(() -> database.seal(month));
    }

    /** Writes the files of a month that is sealed. */
    Manifest write(YearMonth month) throws SQLException, IOException {
        Manifest.Origin origin = database.origin();
        requireOurs(month, origin);
        List<Manifest.Part> parts = new ArrayList<>();
        for (ArchiveDatabase.Table table : ArchiveDatabase.tables()) {
            String name = Manifest.fileName(month, table.name());
            parts.add(folder.writePacked(name, table.name(), out -> database.copyOut(table, month, out)));
        }
        Manifest manifest = new Manifest(month, origin, previous(month), parts, database.sums(month));
        folder.write(Manifest.fileName(month), manifest.toBytes());
        return manifest;
    }

    private @Nullable String previous(YearMonth month) throws SQLException {
        String previous = null;
        for (ArchiveDatabase.Month each : database.months()) {
            if (each.month().isBefore(month)) {
                previous = each.manifest();
            }
        }
        return previous;
    }

    /** The files of a run that was stopped are written anew; those of another installation are not. */
    private void requireOurs(YearMonth month, Manifest.Origin origin) throws IOException {
        String name = Manifest.fileName(month);
        if (folder.has(name)
                && !Manifest.of(folder.read(name)).origin().installation().equals(origin.installation())) {
            throw new ArchiveHinderedException(
                    folder + " holds " + month + " of another installation: give a directory of its own.");
        }
    }

    Archived finish(Manifest manifest) throws SQLException {
        String hash = Sha256.hex(manifest.toBytes());
        patiently(() -> database.finish(manifest.month(), hash, manifest.parts()));
        return new Archived(
                manifest.month(),
                hash,
                manifest.parts().stream().mapToLong(Manifest.Part::rows).sum());
    }

    private interface Step {
        void take() throws SQLException;
    }

    /** Nobody else waits longer than Postgres lets us wait for a lock; so we try often. */
    private static void patiently(Step step) throws SQLException {
        long deadlineNanos = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                step.take();
                return;
            } catch (SQLException fault) {
                if (HINDERED.equals(fault.getSQLState())) {
                    throw new ArchiveHinderedException(firstLines(fault));
                }
                if (!BUSY.equals(fault.getSQLState()) || System.nanoTime() > deadlineNanos) {
                    throw fault;
                }
            }
            try {
                Thread.sleep(PAUSE_MILLIS);
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
                throw new SQLException("interrupted", stopped);
            }
        }
    }

    /** Without what the driver adds: where in the database it was said. */
    private static String firstLines(SQLException fault) {
        return fault instanceof org.postgresql.util.PSQLException said && said.getServerErrorMessage() != null
                ? String.valueOf(said.getServerErrorMessage().getMessage())
                : String.valueOf(fault.getMessage());
    }

    /**
     * Reads all months back that were archived; see {@link ArchiveReader}.
     *
     * @return what is wrong, a line each
     */
    public List<String> verify() throws SQLException, IOException {
        return new ArchiveReader(database, folder).verify();
    }

    @Override
    public void close() {
        database.close();
    }
}
