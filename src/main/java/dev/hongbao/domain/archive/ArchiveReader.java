package dev.hongbao.domain.archive;

import dev.hongbao.common.values.Sha256;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.NoSuchFileException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the files of all archived months back, and holds them against the database: every manifest is the one that was noted when its month
 * was dropped, and names the one before it; every file has the bytes and the rows that its manifest tells; the transfers have its sums; and
 * of each account they add up to its opening. The transfers of a month are loaded into a temporary table for that.
 */
final class ArchiveReader {
    private static final int MOST_ACCOUNTS = 100;

    private static final String TABLES = """
            create temporary table if not exists archive_read (like transfer);
            create temporary table if not exists archive_read_sum (account bigint, amount numeric);
            truncate archive_read, archive_read_sum
            """;

    private static final String ADD = """
            insert into archive_read_sum
            select account, sum(amount) from (select credit as account, amount from archive_read
                                              union all
                                              select debit, -amount from archive_read) as sides
            group by account
            """;

    private static final String SUMS = """
            select d.asset, t.kind, count(*), sum(t.amount)
            from archive_read as t left join account as d on d.id = t.debit
            group by d.asset, t.kind order by d.asset, t.kind
            """;

    private static final String OPENINGS = """
            select format('account %s: the opening is %s, the archived transfers add up to %s',
                          account, coalesce(o.balance, 0), coalesce(s.amount, 0))
            from archive_opening as o
            full join (select account, sum(amount) as amount from archive_read_sum group by account) as s using (account)
            where coalesce(o.balance, 0) <> coalesce(s.amount, 0)
            order by account limit %s
            """.replace("limit %s", "limit " + MOST_ACCOUNTS);

    private final ArchiveDatabase database;
    private final ArchiveFolder folder;
    private final List<String> faults = new ArrayList<>();

    ArchiveReader(ArchiveDatabase database, ArchiveFolder folder) {
        this.database = database;
        this.folder = folder;
    }

    /** @return what is wrong, a line each */
    List<String> verify() throws SQLException, IOException {
        database.execute(TABLES);
        String previous = null;
        for (ArchiveDatabase.Month month : database.months()) {
            if (month.archived()) {
                verify(month, previous);
                previous = month.manifest();
            }
        }
        faults.addAll(database.all(OPENINGS, row -> row.getString(1)));
        return List.copyOf(faults);
    }

    private void verify(ArchiveDatabase.Month month, @Nullable String previous) throws SQLException, IOException {
        String name = Manifest.fileName(month.month());
        Manifest manifest;
        try {
            byte[] bytes = folder.read(name);
            if (!Sha256.hex(bytes).equals(month.manifest())) {
                faults.add(name + ": it is not the manifest that the database knows, whose SHA-256 is "
                        + month.manifest());
            }
            manifest = Manifest.of(bytes);
        } catch (NoSuchFileException missing) {
            faults.add(name + ": it is not in " + folder);
            return;
        } catch (IllegalArgumentException unreadable) {
            faults.add(name + ": " + unreadable.getMessage());
            return;
        }
        if (!Objects.equals(manifest.previous(), previous)) {
            faults.add(name + ": it follows on " + manifest.previous() + ", and the month before it has " + previous);
        }
        Set<String> tables = new HashSet<>();
        for (Manifest.Part part : manifest.parts()) {
            tables.add(part.table());
            verify(manifest, part);
        }
        for (ArchiveDatabase.Table table : ArchiveDatabase.tables()) {
            if (!tables.contains(table.name())) {
                faults.add(name + ": it names no file of " + table.name());
            }
        }
    }

    private void verify(Manifest manifest, Manifest.Part part) throws SQLException {
        String name = Manifest.fileName(manifest.month(), part.table());
        boolean transfers = part.table().equals("transfer");
        try {
            ArchiveFolder.Content<Long> content = folder.readPacked(name, in -> {
                if (transfers) {
                    return database.copyIn("archive_read", in);
                }
                in.transferTo(OutputStream.nullOutputStream());
                return part.rows();
            });
            if (!content.file().equals(part.file()) || !content.text().equals(part.text())) {
                faults.add(name + ": its bytes are not those that were written");
            }
            if (content.read() != part.rows()) {
                faults.add(name + ": it has " + content.read() + " rows, and " + part.rows() + " were written");
            }
        } catch (NoSuchFileException missing) {
            faults.add(name + ": it is not in " + folder);
        } catch (IOException | SQLException unreadable) {
            faults.add(name + ": it cannot be read: " + unreadable.getMessage());
        }
        if (transfers) {
            List<Manifest.Sum> sums = database.all(
                    SUMS,
                    row -> new Manifest.Sum(
                            String.valueOf(row.getString(1)),
                            row.getString(2),
                            row.getLong(3),
                            row.getBigDecimal(4).toBigIntegerExact()));
            if (!sums.equals(manifest.sums())) {
                faults.add(name + ": its transfers add up to " + sums + ", the manifest says " + manifest.sums());
            }
            database.execute(ADD + "; truncate archive_read");
        }
    }
}
