package dev.hongbao.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.common.values.Role;
import dev.hongbao.common.values.UserId;
import dev.hongbao.server.HongbaoServer;
import dev.hongbao.web.access.TokenKey;
import dev.hongbao.web.access.TokenSigner;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/** A server with a console, and an operator who has entered it; the browser's own console stays empty. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ConsoleFixture {
    Browser page;
    HongbaoServer server;
    private TokenSigner signer;
    final OpenIdProvider provider = new OpenIdProvider();

    @BeforeAll
    void start(@TempDir Path data) throws Exception {
        page = Browser.start(1280, 860);
        server = HongbaoServer.start(HongbaoConfig.of(Map.of(
                "data.dir",
                data.toString(),
                "http.port",
                "0",
                "management.port",
                "0",
                "shards",
                "4",
                "console.oidc-issuer",
                provider.issuer(),
                "console.oidc-client-id",
                "console")));
        signer = new TokenSigner(TokenKey.loadOrCreate(data.resolve("token.key")), null, null, Clock.systemUTC());
    }

    @AfterAll
    void stop() {
        page.close();
        provider.close();
        if (server != null) {
            server.close();
        }
    }

    @BeforeEach
    void enter() {
        page.resize(1280, 860, 1);
        page.emulate("prefers-color-scheme", "light");
        // Where nothing runs that could remember the token of before.
        page.open("http://127.0.0.1:" + server.managementPort() + "/icon.svg");
        page.js("sessionStorage.clear(); localStorage.setItem('hongbao.language', 'en')");
        page.open("http://127.0.0.1:" + server.managementPort() + "/");
        page.click("[data-do=enter]");
        page.type("#token", token(Role.SERVICE));
        page.press(Keys.ENTER);
        page.see("[data-user=backend]");
        page.complaints();
    }

    @AfterEach
    void nothingOnTheBrowsersConsole() {
        assertThat(page.complaints()).isEmpty();
    }

    String token(Role role) {
        return signer.sign(new UserId("backend"), List.of(), role, Duration.ofHours(1));
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

    /** Writes a definition as an operator pastes one. */
    void write(String json) {
        page.js(
                "const field = document.querySelector('#definition'); field.value = arguments[0];"
                        + " field.dispatchEvent(new Event('input', { bubbles: true }))",
                json);
    }

    void assertWellLaidOut(String css) {
        assertThat(Looks.cut(page, css)).isEmpty();
        assertThat(Looks.tooPale(page, css + " *")).isEmpty();
        assertThat((Boolean) page.js("return document.documentElement.scrollWidth <= innerWidth"))
                .as("no scrolling to the side")
                .isTrue();
    }
}
