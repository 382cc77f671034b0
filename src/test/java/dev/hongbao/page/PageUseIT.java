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
 * not use it at all. The console's overview too.
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
    void aClaimThatIsToldBeforeItsPacketIsOnIt() throws Exception {
        // Given a room on a line of the test's
        enter(ben, "demo-ben");
        Browser page = ben.browser();
        page.js("""
                const [session] = arguments;
                const answers = {
                  auth: { type: 'authenticated', expiresAt: session.expiresAt },
                  ping: { type: 'pong', at: new Date().toISOString() },
                  join: { type: 'joined', group: session.group, cursor: '0', packets: [] },
                };
                window.WebSocket = class {
                  constructor() {
                    window.line = this;
                    setTimeout(() => this.onopen());
                  }
                  send(text) {
                    const { type, id } = JSON.parse(text);
                    setTimeout(() => this.tell({ ...answers[type], id }));
                  }
                  tell(frame) {
                    this.onmessage({ data: JSON.stringify(frame) });
                  }
                };
                import('/app/room.js').then(({ Room }) => { window.other = new Room(session); });
                """, family.session("demo-ben").getMap());
        page.seeTrue("return window.other?.known === true");

        // When the claim comes first: another server may be faster than the feed
        Object amount = page.js("""
                line.tell({ type: 'claim.settled', claim: { packet: 'p', amount: 100, status: 'settled' } });
                const packet = { id: 'p', sender: 'x', kind: 'lucky', status: 'open', claimed: { count: 0 }, mine: null };
                line.tell({ type: 'event', event: { group: other.group, cursor: '1', type: 'packet.sent', data: { packet } } });
                return other.find('p').mine?.amount;
                """);

        // Then
        assertThat(amount).isEqualTo(100L);
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
    void aLateLookAtAPacketUndoesNothingThatWasToldMeanwhile() throws Exception {
        // Given a page whose looks at packets take long, and a packet that it looks at
        enter(ben, "demo-ben");
        Browser page = ben.browser();
        page.js("""
                const real = window.fetch;
                window.fetch = async (url, more) => {
                  const answer = await real(url, more);
                  if (new RegExp('/v1/packets/[^/]*$').test(url)) await new Promise((resolve) => { window.release = resolve; });
                  return answer;
                };
                """);
        JsonObject one = new JsonObject()
                .put("kind", "exclusive")
                .put("recipients", List.of("demo-ben"))
                .put("count", 1)
                .put("amount", 100);
        String packet = family.send("demo-mei", "for you", one);
        page.seeTrue("return window.release !== undefined");

        // When it is claimed in another tab, and then the look is answered
        family.claim("demo-ben", packet);
        ben.seeState(packet, "drained");
        page.see(row(packet) + " .has-mine");
        page.js("window.release(); return new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve)))");
        page.seeText(row(packet), "for Ben");

        // Then
        ben.seeState(packet, "drained");
        page.see(row(packet) + " .has-mine");
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
    void theLanguageIsChosenAndRemembered() throws Exception {
        enter(mei, "demo-mei");
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
    void onTheNarrowestPhoneNoWordOfAPacketIsCutOff() throws Exception {
        Browser phone = mei.browser();
        phone.resize(360, 740, 2);
        // Given packets of which the viewer has a share: one that is over with shares left, and one with long words
        enter(mei, "demo-mei");
        JsonObject terms = new JsonObject()
                .put("kind", "exclusive")
                .put("recipients", List.of("demo-mei", "demo-ben"))
                .put("passcode", "饺子");
        String ranOut = family.send("demo-anna", "too slow", new JsonObject().put("expiresInSeconds", 2));
        String secret = family.send("demo-grandma", "for two", terms);
        family.claim("demo-mei", ranOut);
        mei.seeState(ranOut, "refunded");
        mei.seeState(secret, "open");

        for (String language : new String[] {"en", "zh"}) {
            // When it is looked at in each language
            phone.js("localStorage.setItem('hongbao.language', arguments[0])", language);
            phone.reload();
            mei.seeState(ranOut, "refunded");
            phone.screenshot("phone-ran-out-" + language);

            // Then every word is there
            assertThat(Looks.cut(phone, ".room")).isEmpty();
            mei.look(ranOut);
            phone.see("[data-outcome=won] .claim");
            assertThat(Looks.cut(phone, "dialog")).isEmpty();
            phone.screenshot("phone-ran-out-opened-" + language);
            mei.close(ranOut);
        }
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

    @Test
    void theOperatorSeesTheRaceAndWhyAServerIsNotReadyWithoutAToken() throws Exception {
        String packet = family.send("demo-lei", "for the operator", new JsonObject().put("count", 3));
        family.claim("demo-anna", packet);
        family.claim("demo-jun", packet);
        Browser operator = ben.browser();
        operator.openAfresh(home.management().toString(), "");

        operator.see("[data-health=up]");
        Eventually.eventually(
                SOON,
                () -> assertThat(List.of("p99", "openPackets", "redisMemory"))
                        .allSatisfy(name -> assertThat(Double.parseDouble(operator.see("[data-field=" + name + "] dd")
                                        .getText()))
                                .isPositive()));
        operator.seeText("[data-field=servers] dd", "1");
        assertThat(operator.see("[data-field=version] dd").getText()).isEqualTo("development");
        operator.screenshot("console-overview");

        // When its Redis is gone, as /health/ready would say, and a journal item was void
        operator.js("""
                const real = window.fetch;
                const redis = { name: 'redis', status: 'DOWN', reason: 'Connection refused' };
                const checks = [{ name: 'postgres', status: 'UP' }, redis];
                const down = { status: 'DOWN', checks, since: { redis: '2026-11-22T03:00:00Z' } };
                const recent = { samples: [], events: [{ at: Date.now(), kind: 'void', count: 2 }] };
                window.fetch = async (path, more) => {
                  if (path.endsWith('/health/ready')) return new Response(JSON.stringify(down), { status: 503 });
                  return path.includes('/recent.json') ? new Response(JSON.stringify(recent)) : real(path, more);
                };
                """);

        // Then it says why it is not ready, since when, and what to do
        operator.seeText("[data-health=down]", "not ready: redis");
        operator.seeText("[data-check=redis]", "Redis does not answer · Since 22 Nov 2026");
        operator.seeText("[data-check=redis]", "Connection refused");
        operator.seeText("[data-check=redis]", "Start it, or wait for the failover");
        operator.seeText("[data-panel=events] [data-word=void]", "look into it");
        operator.js("document.querySelector('[data-panel=events]').scrollIntoView()");
        operator.screenshot("console-events");
        operator.js("scrollTo(0, 0)");
        operator.screenshot("console-not-ready");
    }
}
