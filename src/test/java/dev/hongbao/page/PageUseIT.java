package dev.hongbao.page;

import static dev.hongbao.page.Visitor.row;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/**
 * How the page is used: with the keyboard, on a phone, in another language, with a form that explains itself; and who may
 * not use it at all.
 */
class PageUseIT extends PageUse {
    private static final Duration SOON = Duration.ofSeconds(60);

    @Test
    void theFormSaysWhatIsWrongBeforeAnythingIsSent() throws Exception {
        enter(mei, "demo-mei");
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
        page.type(
                "input[name=amount]", "8,88"); // a comma is the point of many, and never makes a hundred times as much
        page.seeText("#amount-hint", "A number");
        page.type("input[name=amount]", "1,000.50");
        page.seeText(".submit", "¥1,000.50");
        page.type("input[name=amount]", "8.8");
        page.type("input[name=count]", "4");
        page.seeText(".summary", "¥8.80 in 4, each from ¥0.01 to ¥8.77.");
        page.press(Keys.ESCAPE);
        page.seeNo("dialog");
        assertThat(page.focused().getDomAttribute("class")).isEqualTo("send");
    }

    @Test
    void aSendThatIsAnsweredLateClosesNothingThatWasOpenedSince() throws Exception {
        // Given a send that is on its way when its form is closed, and another form
        enter(mei, "demo-mei");
        Browser page = mei.browser();
        page.click(".send");
        mei.holdBack("send");
        page.click(".submit");
        page.seeTrue("return window.release !== undefined");
        page.press(Keys.ESCAPE);
        page.seeNo("dialog");
        page.click(".send");
        page.type("input[name=amount]", "5.55");

        // When
        page.js("window.release()");
        page.see(".row.own");

        // Then
        page.see("dialog.compose");
        assertThat(page.see("input[name=amount]").getDomProperty("value")).isEqualTo("5.55");
    }

    @Test
    void theSharesOfARaceAreAskedForOnceAtATimeAndTheLastIsShown() throws Exception {
        // Given somebody who looks at the shares during a race, over a line that takes long
        enter(ben, "demo-ben");
        Browser page = ben.browser();
        String packet = family.send(
                "demo-mei", "race", new JsonObject().put("amount", 500).put("count", 5));
        family.claim("demo-ben", packet);
        ben.seeState(packet, "mine");
        page.js("""
                const real = window.fetch;
                const released = new Promise((resolve) => { window.release = resolve; });
                window.asked = 0;
                window.fetch = async (url, more) => {
                  if (!url.includes('/claims?')) return real(url, more);
                  window.asked++;
                  const answer = await real(url, more);
                  await released;
                  return answer;
                };
                """);
        ben.look(packet);

        // When others claim
        int taken = 1;
        for (String member : List.of("demo-lei", "demo-fang", "demo-anna")) {
            family.claim(member, packet);
            page.seeText(row(packet), ++taken + "/5");
        }

        // Then
        assertThat(page.js("return window.asked")).isEqualTo(1L);
        page.js("window.release()");
        page.see(".claim[data-user=demo-anna]");
        assertThat(page.js("return window.asked")).isEqualTo(2L);
    }

    @Test
    void aShareIsGrabbedWithTheKeyboardAloneAndTheArrivalIsAnnounced() throws Exception {
        // Given a packet that a screen reader has announced
        enter(ben, "demo-ben");
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
    void onTheNarrowestPhoneNoWordIsCutOffInEitherLanguageAndWhatRanOutSaysSo() throws Exception {
        Browser phone = mei.browser();
        phone.resize(360, 740, 2);
        // Given a packet with long words, and two that are over with shares left, of one of which the viewer has a
        // share
        enter(mei, "demo-mei");
        JsonObject terms = new JsonObject()
                .put("kind", "exclusive")
                .put("recipients", List.of("demo-mei", "demo-ben"))
                .put("passcode", "饺子");
        String secret = family.send("demo-grandma", "for two", terms);
        JsonObject twoSeconds = new JsonObject().put("expiresInSeconds", 2);
        String ranOut = family.send("demo-anna", "too slow", twoSeconds);
        family.claim("demo-mei", ranOut);
        String missed = family.send("demo-jun", "quick!", twoSeconds);
        family.claim("demo-anna", missed);
        mei.seeState(secret, "open");
        mei.seeState(ranOut, "refunded");
        mei.seeState(missed, "refunded");

        // Then who missed it sees where the rest went
        phone.seeText(row(missed) + " + .note", "went back to Jun");
        assertThat(phone.count(row(missed) + " .coin")).isZero();
        mei.look(missed);
        phone.seeText("[data-outcome=refunded] h2", "Time ran out");
        phone.see(".claim[data-user=demo-anna]");
        assertThat(phone.count(".claim.lucky"))
                .as("crowned though shares were left")
                .isZero();
        mei.close(missed);

        // And every word is there, also in the other language, which is remembered
        seeAllWords(ranOut);
        phone.click(".language");
        phone.reload();
        phone.seeText(".send", "发红包");
        assertThat(phone.js("return document.documentElement.lang")).isEqualTo("zh-CN");
        mei.seeState(ranOut, "refunded");
        seeAllWords(ranOut);
        phone.click(".language");
        phone.seeText(".send", "Send a red packet");
    }

    private void seeAllWords(String packet) {
        Browser phone = mei.browser();
        String language = String.valueOf(phone.js("return document.documentElement.lang"));
        phone.screenshot("phone-ran-out-" + language);
        assertThat(Looks.cut(phone, ".room")).isEmpty();
        mei.look(packet);
        phone.see("[data-outcome=won] .claim");
        assertThat(Looks.cut(phone, "dialog")).isEmpty();
        phone.screenshot("phone-ran-out-opened-" + language);
        mei.close(packet);
    }

    /** An object of JavaScript has fields that nobody gave it; a table by user must not find them. */
    @Test
    void somebodyCalledAsWhatEveryObjectHasIsAPersonLikeOthers() throws Exception {
        // Given members with such names, and the longest and the oddest
        List<String> odd = List.of("constructor", "__proto__", "o".repeat(64), "_~@|+=:-.");
        enter(mei, "demo-mei");
        String greeting = "抢\"<b>&amp;'`${1}";

        // When each sends a packet, and all take a share of the first
        String first = "";
        for (String user : odd) {
            family.admit(user);
            String packet = family.send(user, greeting, new JsonObject().put("count", odd.size() + 1));
            mei.seeState(packet, "open");
            assertThat(mei.browser().see(row(packet) + " .by b").getText()).isEqualTo(user);
            assertThat(mei.browser().see(row(packet) + " .greeting").getText()).isEqualTo(greeting);
            first = first.isEmpty() ? packet : first;
            family.claim(user, first);
        }

        // Then the page shows them all, and goes on
        mei.grab(first);
        assertThat(mei.amountWon()).isPositive();
        for (String user : odd) {
            mei.browser().see(".claim[data-user='" + user + "'] .face svg");
        }
        mei.close(first);
        mei.seeState(first, "drained");
    }

    @Test
    void aForeignNameThatLeadsHereFindsTheDoorClosed() {
        mei.browser().open("http://" + Browser.REBOUND + ":" + home.base.getPort() + "/");

        mei.browser().seeText(".gate-off", "http://127.0.0.1");
        assertThat(mei.browser().count("[data-member]")).isZero();
        mei.browser().screenshot("closed");
    }

    @Test
    void somebodyWhoseClockIsHoursAheadSeesWhatIsOpenAndGrabs() throws Exception {
        // Given
        Runnable setRight = ben.browser().setClockAhead(Duration.ofHours(3));
        try {
            family = home.family(DEMO); // whose token the page renews, as long as it knows only its own clock
            ben.enter(home.base, "demo-ben");

            // When
            String packet = family.send("demo-lei", "for ten minutes", new JsonObject().put("expiresInSeconds", 600));

            // Then
            ben.seeState(packet, "open");
            ben.browser().seeText(row(packet) + " .state-line", "Ends in 10 min");
            ben.grab(packet);
            assertThat(ben.amountWon()).isPositive();
            ben.close(packet);
        } finally {
            setRight.run();
        }
    }
}
