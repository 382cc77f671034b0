package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/**
 * Tests of the page: two people, each in a window of their own, and others who act over HTTP. The console stays
 * empty.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class PageUse {
    static final String DEMO = "demo";

    private static final AtomicInteger ROOMS = new AtomicInteger();

    Home home;
    Visitor mei;
    Visitor ben;
    Family family;

    @BeforeAll
    void start() {
        // The browsers first, so that a missing one is reported at once.
        mei = new Visitor(Browser.of("mei", 1280, 860));
        ben = new Visitor(Browser.of("ben", 1180, 820));
        home = Home.open();
    }

    @BeforeEach
    void meet() {
        family = home.family(group());
    }

    /** The group of a test: one of its own, with the demo's members. The demo's, for who enters by the door. */
    String group() {
        return "room-" + ROOMS.incrementAndGet();
    }

    /** As a member of the test's group. */
    void enter(Visitor visitor, String member) throws Exception {
        visitor.come(home.base, family.session(member));
    }

    /** No page has anything to complain about; then all are left, for the next test. */
    @AfterEach
    void nothingOnTheConsole() {
        List<Browser> used =
                Stream.of(mei.browser(), ben.browser()).filter(Browser::isUsed).toList();
        try {
            List<String> complaints =
                    used.stream().flatMap(each -> each.complaints().stream()).toList();
            assertThat(complaints).isEmpty();
        } finally {
            used.forEach(Browser::leave);
        }
    }
}
