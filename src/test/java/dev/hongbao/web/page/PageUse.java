package dev.hongbao.web.page;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of the page: two people, each in a browser of their own, on a start with nothing configured, and others who act over
 * HTTP. Pictures go to {@code target/screenshots}; the console stays empty.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class PageUse {
    BrowserFixture home;
    Visitor mei;
    Visitor ben;
    Family family;

    @BeforeAll
    void start(@TempDir Path data) throws Exception {
        home = new BrowserFixture(data, options());
        mei = home.mei;
        ben = home.ben;
        family = home.family;
    }

    /** The server's, beside those of a start with nothing configured. */
    Map<String, String> options() throws Exception {
        return Map.of();
    }

    @AfterAll
    void stop() throws Exception {
        if (home != null) {
            home.close();
        }
    }

    @AfterEach
    void nothingOnTheConsole() {
        home.assertNoComplaints();
    }
}
