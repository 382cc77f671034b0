package dev.hongbao.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.PastBooks;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an operator types and reads to put a month away. */
class ArchiveCommandIT {
    @TempDir
    Path folder;

    @Test
    void aMonthIsRefusedThenArchivedThenReadBack() throws Exception {
        try (PastBooks past = new PastBooks()) {
            String month = past.month().toString();

            // When something stands in the way
            Typed refused = type(past, "--month", month);

            // Then
            assertThat(refused.exit()).isEqualTo(1);
            assertThat(refused.out()).isEmpty();
            assertThat(refused.err())
                    .startsWith("hongbao: " + month + " is not archived, and nothing has changed:")
                    .contains(
                            "idempotency keys: remembered",
                            "events of feeds: kept",
                            "rows of the outbox: kept",
                            "prizes that your people hand out: not done")
                    .doesNotContain("Where:", "PL/pgSQL");
            assertThat(Files.list(folder)).isEmpty();

            // When nothing does
            past.settleDown();
            Typed archived = type(past, "--month", month, "--verify");
            Typed again = type(past, "--month", month);
            Typed reconciled = Typed.on(past.servers, "reconcile");

            // Then
            assertThat(archived.err()).isEmpty();
            assertThat(archived.exit()).isZero();
            assertThat(archived.out())
                    .startsWith(month + " is archived: ")
                    .contains("The files are whole, and add up to the openings.");
            assertThat(again.exit()).isZero();
            assertThat(again.out()).startsWith(month + " was archived before, manifest ");
            assertThat(reconciled.exit()).as(reconciled.out()).isZero();

            // When a file is spoilt
            Path transfers = folder.resolve(month + ".transfer.csv.gz");
            byte[] bytes = Files.readAllBytes(transfers);
            bytes[bytes.length / 2] ^= 1;
            Files.write(transfers, bytes);
            Typed spoilt = type(past, "--verify");

            // Then
            assertThat(spoilt.exit()).isEqualTo(1);
            assertThat(spoilt.out()).contains("FAIL  " + transfers.getFileName());
        }
    }

    private Typed type(PastBooks past, String... words) {
        String[] line = new String[words.length + 3];
        line[0] = "archive";
        line[1] = "--to";
        line[2] = folder.toString();
        System.arraycopy(words, 0, line, 3, words.length);
        return Typed.on(past.servers, line);
    }
}
