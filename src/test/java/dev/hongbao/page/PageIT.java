package dev.hongbao.page;

import static dev.hongbao.page.Visitor.row;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** Two people race, each in a window of their own. The other members act over HTTP. */
class PageIT extends PageUse {
    private static final int START_FEN = 100_000;

    @Override
    String group() {
        return DEMO;
    }

    @Test
    void aPacketSentInOneBrowserIsGrabbedInTheOtherAndTheLuckiestIsCrowned() throws Exception {
        // Given two people, and what they own
        ben.browser().move();
        mei.enter(home.base, "demo-mei");
        ben.enter(home.base, "demo-ben");
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
    void whoIsLateSeesWhoWasFasterAndHowFast() throws Exception {
        // Given a packet that is held in the hand, unopened
        enter(ben, "demo-ben");
        Browser page = ben.browser();
        String packet = family.send("demo-lei", "手快有手慢无", new JsonObject());
        ben.seeState(packet, "open");
        ben.look(packet);
        page.see(".cover.sealed .big-coin");

        // When others take every share first
        family.claim("demo-anna", packet);
        family.claim("demo-fang", packet);
        page.click(".big-coin");

        // Then it says so, and shows who has them
        page.seeText("[data-outcome=drained] h2", "Too late");
        page.see(".claim[data-user=demo-anna]");
        page.see(".claim[data-user=demo-fang]");
        page.seeNo(".cover");
        page.screenshot("late");

        // And in how many seconds they were gone, in each language
        page.seeText(".claims-head", "2 shares, gone in ");
        assertThat(page.see(".claims-head").getText()).containsPattern("gone in [1-9][0-9]* (s|min)");
        ben.close(packet);
        ben.seeState(packet, "drained");
        page.click(".language");
        ben.look(packet);
        page.seeText(".claims-head", "2 个红包，");
        assertThat(page.see(".claims-head").getText()).containsPattern("[1-9][0-9]*(秒|分钟)被抢光");
        ben.close(packet);
    }

    @Test
    void aPoolSaysWhoOpenedItForWhatAndWhoHasHadEnough() throws Exception {
        // Given
        enter(ben, "demo-ben");
        String pool = family.openPool("demo-lei", "Spring shoes", "sku-4711");
        ben.seeState(pool, "open");
        ben.browser().seeText(row(pool) + " .by", "Lei");
        ben.browser().seeText(row(pool) + " .greeting", "Spring shoes · sku-4711");

        // When he grabs it, and the next one
        ben.grab(pool);
        assertThat(ben.amountWon()).isPositive();
        ben.browser().screenshot("pool");
        ben.close(pool);
        String next = family.openAnother("demo-anna", pool, "sku-4712");
        ben.seeState(next, "open");
        ben.grab(next);

        // Then the page shows that the limit is reached
        ben.browser().seeText("[data-outcome=limited] h2", "You have reached the limit");
        ben.browser().seeNo(".cover");
        ben.browser().screenshot("limited");
        ben.close(next);
    }

    @Test
    void aRefusalIsExplainedAndAWrongPasscodeCanBeTriedAgain() throws Exception {
        // Given a packet for somebody else, and one with a passcode
        enter(ben, "demo-ben");
        JsonObject toAnna = new JsonObject().put("kind", "exclusive").put("recipients", List.of("demo-anna"));
        String exclusive = family.send("demo-mei", "for Anna only", toAnna.put("count", 1));
        String secret = family.send("demo-uncle", "dumplings", new JsonObject().put("passcode", "饺子"));

        // When another member grabs, then the page shows the refusal
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
    void aRestartInTheMiddleLosesNothingAndDoublesNothing() throws Exception {
        // Given a packet before, a member with start money and a wheel, and the server gone
        String wheel = family.login("demo-uncle").getString("draw");
        mei.enter(home.base, "demo-mei");
        ben.enter(home.base, "demo-ben");
        String before = family.send("demo-fang", "before the stop", new JsonObject());
        mei.seeState(before, "open");
        ben.seeState(before, "open");
        home.stop();
        mei.browser().see(".line:not([data-line=open])");

        // When one sends meanwhile, and the server comes back
        mei.browser().click(".send");
        mei.browser().type("input[name=greeting]", "sent while it was down");
        mei.browser().click(".submit");
        home.startAgain();

        // Then who enters again has the same wheel, and no more start money
        assertThat(family.login("demo-uncle").getString("draw")).isNotNull().isEqualTo(wheel);
        assertThat(family.balance("demo-uncle")).isLessThanOrEqualTo(START_FEN);

        // And both see everything once, and go on as if nothing had been
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
}
