package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.UserId;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/** A server with a console, and an operator who has entered it; the browser's own console stays empty. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ConsoleFixture {
    Browser page;
    Home home;

    @BeforeAll
    void start() {
        page = Browser.of("mei", 1280, 860);
        home = Home.open();
    }

    @BeforeEach
    void enter() {
        String session = new JsonObject().put("token", token(Role.SERVICE)).encode();
        page.openAfresh(
                home.management() + "#/users",
                "sessionStorage.setItem('hongbao.session', " + Json.encode(session) + ")");
        page.see("[data-user=backend]");
        page.complaints();
    }

    @AfterEach
    void nothingOnTheBrowsersConsole() {
        try {
            assertThat(page.complaints()).isEmpty();
        } finally {
            page.leave();
        }
    }

    String token(Role role) {
        return home.signer.sign(new UserId("backend"), List.of(), role, Duration.ofHours(1));
    }

    void go(String place) {
        page.js("location.hash = arguments[0]", "#/" + place);
    }

    /** Opens the dialog of an action, in a panel. */
    void ask(String panel, String action) {
        page.click("[data-panel=" + panel + "] [data-do=" + action + "]");
        page.see("dialog [data-action=" + action + "]");
    }

    void confirm() {
        page.click("dialog button[type=submit]");
        page.seeNo("dialog");
    }

    /** A call that the console has no button for, or that is another test's to make by the button; with the console's token. */
    JsonObject post(String path, String body) {
        return new JsonObject((String) page.js(
                "const call = new XMLHttpRequest(); call.open('POST', arguments[0], false);"
                        + " call.setRequestHeader('Content-Type', 'application/json');"
                        + " call.setRequestHeader('Idempotency-Key', String(performance.now()));"
                        + " call.setRequestHeader('Authorization',"
                        + " `Bearer ${JSON.parse(sessionStorage['hongbao.session']).token}`);"
                        + " call.send(arguments[1]); return call.responseText",
                path,
                body));
    }

    void deposit(String user, String asset, long amount) {
        JsonObject deposit = new JsonObject().put("asset", asset).put("amount", amount);
        assertThat(post("/v1/accounts/" + user + "/deposits", deposit.encode()).getLong("amount"))
                .isEqualTo(amount);
    }

    /** But for rows with the longest ids that there may be, with which a table is wider than a screen, and scrolls. */
    void assertWellLaidOut(String css) {
        page.js("""
                const isLong = (row) => [...row.cells].some((cell) => cell.textContent.length >= 64);
                [...document.querySelectorAll('tbody tr')].filter(isLong).forEach((row) => { row.hidden = true; });
                """);
        assertThat(Looks.cut(page, css)).isEmpty();
        assertThat(Looks.tooPale(page, css + " *")).isEmpty();
        assertThat((Boolean) page.js("return document.documentElement.scrollWidth <= innerWidth"))
                .as("no scrolling to the side")
                .isTrue();
    }
}
