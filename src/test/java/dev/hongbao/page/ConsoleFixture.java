package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.UserId;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.openqa.selenium.Keys;

/** A server with a console, and an operator who has entered it; the browser's own console stays empty. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ConsoleFixture {
    Browser page;
    Home home;

    @BeforeAll
    void start() {
        page = Browser.of("mei", 1280, 860);
        home = Host.home();
    }

    @BeforeEach
    void enter() {
        page.openAfresh(home.management().toString(), "");
        page.click("[data-do=enter]");
        page.paste("#token", token(Role.SERVICE));
        page.press(Keys.ENTER);
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

    void deposit(String user, String asset, long amount) {
        go("users/" + user);
        ask("balances", "deposit");
        page.type("dialog [name=asset]", asset);
        page.type("dialog [name=amount]", Long.toString(amount));
        confirm();
    }

    void assertWellLaidOut(String css) {
        assertThat(Looks.cut(page, css)).isEmpty();
        assertThat(Looks.tooPale(page, css + " *")).isEmpty();
        assertThat((Boolean) page.js("return document.documentElement.scrollWidth <= innerWidth"))
                .as("no scrolling to the side")
                .isTrue();
    }
}
