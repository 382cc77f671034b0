package dev.hongbao.store.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** The look at a child's log, once a second. */
class ChildProcessTest {
    private final Logger log = (Logger) LoggerFactory.getLogger(ChildProcess.class);
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

    @TempDir
    private Path directory;

    @BeforeEach
    void listen() {
        logged.start();
        log.addAppender(logged);
    }

    @AfterEach
    void leave() {
        log.detachAppender(logged);
    }

    @Test
    void aDeletedLogIsToldOnce() {
        // When
        String fault = "";
        for (int look = 0; look < 3; look++) {
            fault = ChildProcess.cutLog(directory.resolve("deleted.log"), fault);
        }

        // Then
        assertThat(logged.list).singleElement().asString().contains("was deleted");
    }

    @Test
    void aLogThatCannotBeCutIsToldOnce() throws IOException {
        // Given a long log whose copy has no place
        Path file = directory.resolve("postgres.log");
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(ChildProcess.LOG_LIMIT_BYTES + 1);
        }
        Path taken = Files.createDirectories(directory.resolve("postgres.log.1").resolve("taken"));

        // When
        String fault = "";
        for (int look = 0; look < 3; look++) {
            fault = ChildProcess.cutLog(file, fault);
        }

        // Then
        assertThat(logged.list)
                .singleElement()
                .satisfies(line -> assertThat(line.getFormattedMessage()).contains("cannot shorten the log " + file));

        // And when there is room again, it is cut
        Files.delete(taken);
        assertThat(ChildProcess.cutLog(file, fault)).isEmpty();
        assertThat(file).isEmptyFile();
    }
}
