package dev.hongbao.domain.archive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.common.values.Sha256;
import dev.hongbao.testing.PastBooks;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.YearMonth;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** What is wrong with the files, or with what the database remembers of them, is found: two months are archived. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ArchiveReaderIT {
    @TempDir
    static Path folder;

    private PastBooks past;
    private YearMonth later;

    @BeforeAll
    void twoMonths() throws Exception {
        past = new PastBooks().settleDown();
        past.archive(folder);
        later = past.month().plusMonths(1);
        try (Archiver archiver = past.archiver(folder)) {
            archiver.archive(later);
        }
        assertThat(verify()).isEmpty();
    }

    @AfterAll
    void stop() {
        past.close();
    }

    private List<String> verify() throws Exception {
        try (Archiver archiver = past.archiver(folder)) {
            return archiver.verify();
        }
    }

    private interface Change {
        byte[] of(byte[] bytes);
    }

    /** What is found while a file is changed; missing for a change to null. */
    private List<String> foundWith(String name, Change change) throws Exception {
        Path file = folder.resolve(name);
        byte[] whole = Files.readAllBytes(file);
        try {
            byte[] changed = change.of(whole.clone());
            if (changed == null) {
                Files.delete(file);
            } else {
                Files.write(file, changed);
            }
            return verify();
        } finally {
            Files.write(file, whole);
        }
    }

    private String transfers() {
        return Manifest.fileName(past.month(), "transfer");
    }

    @Test
    void aByteThatWasChangedIsFoundInEveryFile() throws Exception {
        for (String table : List.of("packet_amounts", "play", "transfer")) {
            String name = Manifest.fileName(past.month(), table);
            assertThat(foundWith(name, bytes -> {
                        bytes[bytes.length / 2] ^= 1;
                        return bytes;
                    }))
                    .anySatisfy(line -> assertThat(line).startsWith(name));
        }
    }

    @Test
    void rowsThatWereExchangedForOthersAreFoundAlsoWhenTheirManifestIsForgedWithThem() throws Exception {
        // Given the transfers of the other month, which has none
        byte[] none = Files.readAllBytes(folder.resolve(Manifest.fileName(later, "transfer")));

        // Then
        assertThat(foundWith(transfers(), bytes -> none))
                .anySatisfy(line -> assertThat(line).contains("its bytes are not those"))
                .anySatisfy(line -> assertThat(line).contains("0 rows"))
                .anySatisfy(line -> assertThat(line).contains("add up to"))
                .anySatisfy(line -> assertThat(line).startsWith("account ").contains("the opening is"));
        assertThat(foundWith(
                        Manifest.fileName(past.month()),
                        bytes -> new String(bytes, StandardCharsets.UTF_8)
                                .replaceFirst("\"rows\" : [1-9]", "\"rows\" : 0")
                                .getBytes(StandardCharsets.UTF_8)))
                .anySatisfy(line -> assertThat(line).contains("not the manifest that the database knows"));
    }

    @Test
    void whatIsMissingIsFound() throws Exception {
        assertThat(foundWith(transfers(), bytes -> null)).contains(transfers() + ": it is not in " + folder);
        assertThat(foundWith(Manifest.fileName(later), bytes -> null))
                .containsExactly(Manifest.fileName(later) + ": it is not in " + folder);
    }

    /** What is found when the database was made to know another manifest. */
    private List<String> foundWithForged(YearMonth month, UnaryOperator<Manifest> forgery) throws Exception {
        String name = Manifest.fileName(month);
        byte[] real = Files.readAllBytes(folder.resolve(name));
        byte[] forged = forgery.apply(Manifest.of(real)).toBytes();
        know(month, forged);
        try {
            return foundWith(name, bytes -> forged);
        } finally {
            know(month, real);
        }
    }

    private void know(YearMonth month, byte[] manifest) {
        past.books.execute("update archive_month set manifest = '" + Sha256.hex(manifest) + "' where month = '"
                + month.atDay(1) + "'");
    }

    private static Manifest with(Manifest real, Function<Manifest.Part, Stream<Manifest.Part>> parts) {
        return new Manifest(
                real.month(),
                real.origin(),
                real.previous(),
                real.parts().stream().flatMap(parts).toList(),
                real.sums());
    }

    @Test
    void aChainThatIsBrokenIsFound() throws Exception {
        assertThat(foundWithForged(
                        later,
                        real -> new Manifest(real.month(), real.origin(), "0".repeat(64), real.parts(), real.sums())))
                .singleElement()
                .satisfies(line -> assertThat(line).startsWith(Manifest.fileName(later) + ": it follows on 0000"));
    }

    @Test
    void aManifestThatCannotBeReadIsFound() throws Exception {
        assertThat(foundWith(Manifest.fileName(later), bytes -> "lost".getBytes(StandardCharsets.UTF_8)))
                .anySatisfy(line -> assertThat(line).startsWith(Manifest.fileName(later) + ": it is no manifest"));
        assertThat(foundWith(
                        Manifest.fileName(later),
                        bytes -> new String(bytes, StandardCharsets.UTF_8)
                                .replace("\"format\" : 1", "\"format\" : 2")
                                .getBytes(StandardCharsets.UTF_8)))
                .contains(Manifest.fileName(later) + ": its format is 2, and not 1");
    }

    @Test
    void aManifestThatTellsLessOrOtherThanTheFilesIsFoundAlsoWhenTheDatabaseKnowsIt() throws Exception {
        assertThat(foundWithForged(
                        later,
                        real -> with(
                                real,
                                part -> Stream.of(part)
                                        .filter(each -> !each.table().equals("play")))))
                .containsExactly(Manifest.fileName(later) + ": it names no file of play");
        assertThat(foundWithForged(
                        later,
                        real -> with(
                                real,
                                part -> Stream.of(new Manifest.Part(
                                        part.table(),
                                        part.rows(),
                                        new Manifest.Digest(1, part.text().sha256()),
                                        part.file())))))
                .hasSize(3)
                .allSatisfy(line -> assertThat(line).endsWith("its bytes are not those that were written"));
        assertThat(foundWithForged(
                        later,
                        real -> with(
                                real, part -> Stream.of(new Manifest.Part(part.table(), 7, part.text(), part.file())))))
                .containsExactly(Manifest.fileName(later, "transfer") + ": it has 0 rows, and 7 were written");
    }

    /** The same rows, packed otherwise: nobody knows by whom. */
    @Test
    void aFileThatWasPackedAnewIsFound() throws Exception {
        assertThat(foundWith(transfers(), bytes -> {
                    ByteArrayOutputStream packed = new ByteArrayOutputStream();
                    try (GZIPOutputStream out = new GZIPOutputStream(packed) {
                        {
                            def.setLevel(Deflater.NO_COMPRESSION);
                        }
                    }) {
                        new GZIPInputStream(new ByteArrayInputStream(bytes)).transferTo(out);
                    } catch (IOException never) {
                        throw new IllegalStateException(never);
                    }
                    return packed.toByteArray();
                }))
                .containsExactly(transfers() + ": its bytes are not those that were written");
    }

    @Test
    void aForgedOpeningIsFoundByTheBooksAndOneWithItsBalanceByTheFiles() throws Exception {
        String bob = "(select id from account where owner = 'bob' and asset = 'CNY')";

        // When an opening alone is forged
        past.books.execute("update archive_opening set balance = balance + 7 where account = " + bob);
        // Then
        assertThat(past.books.audited())
                .singleElement()
                .satisfies(line -> assertThat(line).startsWith("wallet of bob in CNY: balance"));
        assertThat(verify()).singleElement().satisfies(line -> assertThat(line).startsWith("account "));

        // When the balance is forged with it, and another one against it
        past.books.execute("update account set balance = balance + 7 where id = " + bob);
        past.books.execute("update account set balance = balance - 7 where owner = 'outside' and asset = 'CNY'");
        past.books.execute("update archive_opening set balance = balance - 7 where account ="
                + " (select id from account where owner = 'outside' and asset = 'CNY')");
        // Then
        assertThat(past.books.audited()).isEmpty();
        assertThat(verify()).hasSize(2);

        past.books.execute("update account set balance = balance - 7 where id = " + bob);
        past.books.execute("update account set balance = balance + 7 where owner = 'outside' and asset = 'CNY'");
        past.books.execute("update archive_opening set balance = balance + 7 where account ="
                + " (select id from account where owner = 'outside' and asset = 'CNY')");
        past.books.execute("update archive_opening set balance = balance - 7 where account = " + bob);
        assertThat(verify()).isEmpty();
    }
}
