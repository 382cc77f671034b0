package dev.hongbao.page;

import static dev.hongbao.page.Visitor.row;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.server.HongbaoServer;
import dev.hongbao.testing.Eventually;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/**
 * The page as two people use it, each in a browser of their own, on a start with nothing configured. The other members act
 * over HTTP. Pictures go to {@code target/screenshots}.
 */
class PageIT {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int START_FEN = 100_000;

    @TempDir
    private static Path data;

    private static HongbaoServer server;
    private static URI base;
    private static Visitor mei;
    private static Visitor ben;
    private static Family family;

    @BeforeAll
    static void start() throws Exception {
        server = serve(0);
        base = URI.create("http://127.0.0.1:" + server.port());
        family = new Family(base);
        mei = new Visitor(Browser.start(1280, 860));
        ben = new Visitor(Browser.start(1180, 820));
    }

    @AfterAll
    static void stop() {
        for (Visitor started : new Visitor[] {mei, ben}) {
            if (started != null) {
                started.close();
            }
        }
        if (server != null) {
            server.close();
        }
    }

    private static HongbaoServer serve(int port) throws Exception {
        return HongbaoServer.start(HongbaoConfig.of(
                Map.of("data.dir", data.toString(), "http.port", Integer.toString(port), "management.port", "0")));
    }

    @AfterEach
    void nothing_on_the_console() {
        assertThat(mei.browser().complaints()).isEmpty();
        assertThat(ben.browser().complaints()).isEmpty();
    }

    @Test
    void a_packet_sent_in_one_browser_is_grabbed_in_the_other_and_the_luckiest_is_crowned() throws Exception {
        // Given two people, and what they own
        mei.enter(base, "demo-mei");
        ben.enter(base, "demo-ben");
        long meis = family.balance("demo-mei");
        long bens = family.balance("demo-ben");

        // When one sends 6.66 in two shares, and both grab
        mei.send("6.66", 2, "恭喜发财，万事如意", form -> form.screenshot("form"));
        String packet = ben.seePacket("恭喜发财，万事如意");
        ben.seeState(packet, "open");
        ben.browser().screenshot("arrived");
        ben.grab(packet);
        long bensShare = ben.amountWon();
        ben.browser().see(".coins");
        mei.grab(packet);
        long meisShare = mei.amountWon();

        // Then the shares are the whole, the luckiest is crowned in both, and the wallets agree with the books
        assertThat(bensShare + meisShare).isEqualTo(666);
        String luckiest = bensShare >= meisShare ? "demo-ben" : "demo-mei";
        if (bensShare != meisShare) {
            mei.browser().see(".claim.lucky[data-user=" + luckiest + "] .crown");
            ben.browser().see(".claim.lucky[data-user=" + luckiest + "] .crown");
        }
        mei.browser().seeText("[data-outcome=won] .amount", "¥%d.%02d".formatted(meisShare / 100, meisShare % 100));
        mei.browser().screenshot("crowned");
        mei.close(packet);
        ben.close(packet);
        ben.seeState(packet, "drained");
        mei.seeBalance(meis - 666 + meisShare);
        ben.seeBalance(bens + bensShare);
        assertThat(family.balance("demo-ben")).isEqualTo(bens + bensShare);
        ben.browser().see(".records [data-kind=claim]");
    }

    @Test
    void who_is_late_sees_who_was_faster() throws Exception {
        // Given a packet that is held in the hand, unopened
        ben.enter(base, "demo-ben");
        String packet = family.send("demo-lei", "手快有手慢无", new JsonObject());
        ben.seeState(packet, "open");
        ben.look(packet);
        ben.browser().see(".cover.sealed .big-coin");

        // When others take every share first
        family.claim("demo-anna", packet);
        family.claim("demo-fang", packet);
        ben.browser().click(".big-coin");

        // Then it says so, and shows who has them
        ben.browser().seeText("[data-outcome=drained] h2", "Too late");
        ben.browser().see(".claim[data-user=demo-anna]");
        ben.browser().see(".claim[data-user=demo-fang]");
        ben.browser().seeNo(".cover");
        ben.browser().screenshot("late");
        ben.close(packet);
        ben.seeState(packet, "drained");
    }

    @Test
    void a_refusal_is_explained_and_a_wrong_passcode_can_be_tried_again() throws Exception {
        // Given a packet for somebody else, and one with a passcode
        ben.enter(base, "demo-ben");
        mei.enter(base, "demo-mei");
        mei.send("5", 1, "for Anna only", form -> {
            form.js("document.querySelector('input[value=exclusive]').click()");
            form.js("document.querySelector('input[value=demo-anna]').click()");
        });
        String exclusive = ben.seePacket("for Anna only");
        String secret = family.send("demo-uncle", "dumplings", new JsonObject().put("passcode", "饺子"));

        // When the wrong one grabs, then he is told
        ben.grab(exclusive);
        ben.browser().seeText("[data-outcome=not-eligible] h2", "Not for you");
        ben.browser().seeNo(".cover");
        ben.browser().screenshot("refused");
        ben.close(exclusive);

        // When he guesses the passcode, then he may guess again
        ben.grab(secret);
        ben.browser().type("input[name=passcode]", "noodles");
        ben.browser().press(Keys.ENTER);
        ben.browser().seeText("[role=alert]", "not the passcode");
        ben.browser().type("input[name=passcode]", "饺子");
        ben.browser().press(Keys.ENTER);
        assertThat(ben.amountWon()).isPositive();
        ben.close(secret);
    }

    @Test
    void a_packet_whose_time_ran_out_goes_back_and_looks_different() throws Exception {
        mei.enter(base, "demo-mei");
        String packet = family.send("demo-jun", "quick!", new JsonObject().put("expiresInSeconds", 2));
        family.claim("demo-anna", packet);

        mei.seeState(packet, "refunded");

        mei.browser().seeText(row(packet) + " + .note", "went back to Jun");
        assertThat(mei.browser().count(row(packet) + " .coin")).isZero();
        mei.look(packet);
        mei.browser().seeText("[data-outcome=refunded] h2", "Time ran out");
        mei.close(packet);
    }

    @Test
    void the_form_says_what_is_wrong_before_anything_is_sent() {
        mei.enter(base, "demo-mei");
        Browser page = mei.browser();
        page.click(".send");
        page.type("input[name=amount]", "0.02");
        page.type("input[name=count]", "3");
        page.seeText("#amount-hint", "at least ¥0.03");
        page.click(".submit");

        page.see("input[name=amount][aria-invalid=true]:focus");
        page.type("input[name=amount]", "5000");
        page.seeText("#amount-hint", "You have ¥");
        page.type("input[name=amount]", "ten");
        page.seeText("#amount-hint", "A number");
        page.type("input[name=amount]", "8.8");
        page.type("input[name=count]", "4");
        page.seeText(".summary", "¥8.80 in 4, each from ¥0.01 to ¥8.77.");
        page.press(Keys.ESCAPE);
        page.seeNo("dialog");
        assertThat(page.focused().getDomAttribute("class")).isEqualTo("send");
    }

    @Test
    void a_share_is_grabbed_with_the_keyboard_alone_and_the_arrival_is_announced() throws Exception {
        // Given a packet that a screen reader has announced
        ben.enter(base, "demo-ben");
        String packet = family.send("demo-grandma", "for the keyboard", new JsonObject());
        ben.seeState(packet, "open");
        ben.browser().js("document.activeElement.blur()");
        assertThat(ben.browser().js("return document.querySelector('[aria-live=polite].unseen').textContent"))
                .asString()
                .contains("Grandma sent a red packet: for the keyboard");

        // When Tab reaches its coin, and Enter is pressed
        String coin = "return document.activeElement.matches(\"" + row(packet) + " .coin\")";
        for (int i = 0; i < 200 && !Boolean.TRUE.equals(ben.browser().js(coin)); i++) {
            ben.browser().press(Keys.TAB);
        }
        assertThat(ben.browser().js(coin)).as("focus on the coin").isEqualTo(true);
        ben.browser().screenshot("focus");
        ben.browser().press(Keys.ENTER);

        // Then the result has the focus, Escape leaves, and the focus is at the packet again
        assertThat(ben.amountWon()).isPositive();
        Eventually.eventually(
                SOON,
                () -> assertThat(ben.browser().focused().getDomAttribute("class"))
                        .isEqualTo("verdict"));
        ben.browser().press(Keys.ESCAPE);
        ben.browser().seeNo("dialog");
        assertThat(ben.browser().js("return document.activeElement.closest('[data-packet]').dataset.packet"))
                .isEqualTo(packet);
    }

    @Test
    void a_restart_in_the_middle_loses_nothing_and_doubles_nothing() throws Exception {
        // Given a packet before, and the server gone
        mei.enter(base, "demo-mei");
        ben.enter(base, "demo-ben");
        String before = family.send("demo-fang", "before the stop", new JsonObject());
        mei.seeState(before, "open");
        ben.seeState(before, "open");
        server.close();
        mei.browser().see(".line:not([data-line=open])");

        // When one sends meanwhile, and the server comes back
        mei.browser().click(".send");
        mei.browser().type("input[name=greeting]", "sent while it was down");
        mei.browser().click(".submit");
        server = serve(base.getPort());

        // Then both see everything once, and go on as if nothing had been
        String meanwhile = ben.seePacket("sent while it was down");
        mei.seeState(meanwhile, "open");
        String after = family.send("demo-fang", "after the start", new JsonObject());
        for (Visitor visitor : new Visitor[] {mei, ben}) {
            visitor.browser().see("[data-line=open]");
            visitor.seeState(after, "open");
            for (String packet : new String[] {before, meanwhile, after}) {
                assertThat(visitor.browser().count(row(packet))).isEqualTo(1);
            }
            assertThat(visitor.browser().count("article[aria-label$='sent while it was down']"))
                    .isEqualTo(1);
        }
        ben.grab(before);
        assertThat(ben.amountWon()).isPositive();
        ben.close(before);
        assertThat(mei.browser().complaints()).allMatch(each -> each.contains("ERR_CONNECTION"));
        assertThat(ben.browser().complaints()).allMatch(each -> each.contains("ERR_CONNECTION"));
    }

    @Test
    void the_language_is_chosen_and_remembered() {
        mei.enter(base, "demo-mei");
        mei.browser().seeText(".send", "Send a red packet");

        mei.browser().click(".language");

        mei.browser().seeText(".send", "发红包");
        mei.browser().reload();
        mei.browser().seeText(".send", "发红包");
        assertThat(mei.browser().js("return document.documentElement.lang")).isEqualTo("zh-CN");
        mei.browser().click(".language");
        mei.browser().seeText(".send", "Send a red packet");
    }

    @Test
    void a_narrow_phone_in_the_dark_and_in_chinese_shows_it_all() throws Exception {
        // Given a phone
        Browser phone = mei.browser();
        phone.resize(360, 740, 2);
        phone.emulate("prefers-color-scheme", "dark");
        try {
            mei.enter(base, "demo-mei");
            phone.click(".language");
            String packet = family.send("demo-anna", "龙马精神", new JsonObject().put("count", 3));

            // When every view is opened, then nothing is wider than the screen
            mei.seeState(packet, "open");
            fits(phone, "phone-group");
            mei.grab(packet);
            assertThat(mei.amountWon()).isPositive();
            phone.seeNo(".cover");
            fits(phone, "phone-won");
            mei.close(packet);
            phone.click(".send");
            phone.click("details summary");
            fits(phone, "phone-form");
            phone.click("dialog .close");
            phone.click(".wallet-chip");
            phone.see("dialog .records li");
            fits(phone, "phone-wallet");
            phone.click("dialog .close");
            phone.click(".me-chip");
            phone.see("[data-member]");
            fits(phone, "phone-gate");
        } finally {
            phone.emulate("prefers-color-scheme", "light");
            phone.resize(1280, 860, 1);
        }
    }

    private static void fits(Browser phone, String picture) {
        assertThat(phone.js("return [...document.querySelectorAll('body, .room, .gate, .sheet, .timeline')]"
                        + ".filter(each => each.scrollWidth > innerWidth).map(each => each.className)"))
                .asList()
                .isEmpty();
        phone.screenshot(picture);
    }

    @Test
    void a_foreign_name_that_leads_here_finds_the_door_closed() {
        mei.browser().open("http://" + Browser.REBOUND + ":" + base.getPort() + "/");

        mei.browser().seeText(".gate-off", "http://127.0.0.1");
        assertThat(mei.browser().count("[data-member]")).isZero();
        mei.browser().screenshot("closed");
    }

    @Test
    void the_start_money_comes_once() throws Exception {
        family.login("demo-uncle");
        family.login("demo-uncle");
        assertThat(family.balance("demo-uncle")).isLessThanOrEqualTo(START_FEN);
    }

    @Test
    void the_operator_sees_the_race() throws Exception {
        String packet = family.send("demo-lei", "for the operator", new JsonObject().put("count", 3));
        family.claim("demo-anna", packet);
        family.claim("demo-jun", packet);
        Browser operator = ben.browser();
        operator.open("http://127.0.0.1:" + server.managementPort() + "/");

        operator.seeText("#health", "ready");
        operator.seeText("[data-tile=p99] b", "ms");
        assertThat(operator.count("figure canvas")).isEqualTo(5);
        Eventually.eventually(
                SOON,
                () -> assertThat(Integer.parseInt(
                                operator.see("[data-tile=open] b").getText()))
                        .isPositive());
        operator.screenshot("operator");
    }
}
