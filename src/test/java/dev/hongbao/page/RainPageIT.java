package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** A rain on the page: a countdown, envelopes that fall and are caught, a result. */
class RainPageIT extends PageUse {
    /** Of each drop. */
    private static final long SHARE = 111;

    private static final JsonObject RAIN =
            new JsonObject().put("durationSeconds", 60).put("catchesPerUser", 2);

    private static String bar(String rain) {
        return ".rain-bar[data-rain='" + rain + "']";
    }

    /** Taps what falls, as a finger does, until so much is caught. */
    private static void tapUntil(Browser page, int caught) {
        page.seeTrue("document.querySelector('.drop[data-state=falling]')?.click();"
                + " return Boolean(document.querySelector('.rain-foot [data-caught=\"" + caught + "\"]'))");
    }

    @Test
    void envelopesFallAndAreCaughtAndTheEndTellsHowMuch() throws Exception {
        // Given somebody at the page, and a rain that is announced
        mei.browser().move();
        enter(mei, "demo-mei");
        long before = family.balance("demo-mei");
        String rain = family.makeRain("New Year's Eve", RAIN);
        Browser page = mei.browser();

        // Then it opens over the chat by itself, and counts down
        page.seeText("dialog.rain[open] .rain-head", "New Year's Eve");
        page.see(".sky[data-phase]");
        page.screenshot("rain-countdown");

        // When it rains, and one catches as much as one may
        page.see(".drop[data-state=falling]");
        page.screenshot("rain-falling");
        tapUntil(page, 2);
        page.screenshot("rain-caught");

        // Then she is told so, and has it; after a reload she has to ask for the rain
        page.seeText(".rain-head", "caught your limit");
        mei.seeBalance(before + 2 * SHARE);
        page.reload();
        page.seeText(bar(rain) + "[data-phase=falling]", "New Year's Eve");
        page.seeNo("dialog");
        page.click(bar(rain));
        page.see(".rain-foot [data-caught='2']");
        page.screenshot("rain-found");

        // When somebody opens the page in the middle, then it rains there, too
        enter(ben, "demo-ben");
        ben.browser().seeText("dialog.rain[open] .rain-head", "New Year's Eve");
        ben.browser().see(".drop[data-state=falling]");

        // When it is over
        family.cancelRain(rain);

        // Then both see what it gave, and she what she caught
        assertThat(Long.parseLong(
                        page.see(".rain-result[data-result='2'] .amount").getDomAttribute("data-amount")))
                .isEqualTo(2 * SHARE);
        page.seeText(".rain-result", "2 caught, ¥2.22 in all");
        page.screenshot("rain-result");

        // Then her browser computes when each envelope had to fall
        page.click(".fairness button");
        page.seeText(".fairness[data-fair=yes] [role=status]", "Yes, it was fair");
        page.screenshot("rain-fair");
        page.press(Keys.ESCAPE);
        page.seeNo("dialog");
        page.seeNo(bar(rain));
        ben.browser().seeText(".timeline", "New Year's Eve: 2 caught, ¥2.22 in all");
        assertThat(family.balance("demo-mei")).isEqualTo(before + 2 * SHARE);
    }

    @Test
    void closedItStaysClosedAndWhoWritesIsNotDisturbed() throws Exception {
        // Given somebody who fills the form
        enter(mei, "demo-mei");
        Browser page = mei.browser();
        page.click(".send");
        page.type("input[name=greeting]", "恭");
        String rain = family.makeRain("Interlude", RAIN);
        page.seeTrue("return document.querySelector(\"" + bar(rain) + "\")?.dataset.phase === 'falling'");
        page.seeNo("dialog.rain");

        // When the form is closed
        page.press(Keys.ESCAPE);

        // Then it rains, until that is closed, too
        page.see("dialog.rain .drop[data-state=falling]");
        page.press(Keys.ESCAPE);
        page.seeNo("dialog");
        page.click(".send");
        page.press(Keys.ESCAPE);
        page.seeNo("dialog");
        page.see(bar(rain));
        family.cancelRain(rain);
        page.seeText(".timeline", "Interlude: ");
    }

    @Test
    void whoWantsNoMovementCatchesStandingEnvelopesWithTheKeyboardOnAPhone() throws Exception {
        // Given
        Browser phone = ben.browser();
        phone.resize(360, 740, 2);
        enter(ben, "demo-ben");
        phone.click(".language");
        String rain = family.makeRain("除夕", RAIN);
        phone.seeText("dialog.rain[open] .rain-head", "除夕");
        assertThat(phone.focused().getTagName())
                .as("what a key that is pressed just now meets")
                .isEqualTo("h2");

        // When
        phone.see(".sky.still .drop[data-state=falling]");
        phone.js("document.querySelector('.drop[data-state=falling]').focus()");
        phone.press(Keys.ENTER);

        // Then
        phone.seeText("[data-caught='1']", "我的：1/2 个 · ¥1.11");
        assertThat(phone.js("return getComputedStyle(document.querySelector('.drop')).animationName"))
                .isEqualTo("none");
        assertThat(phone.js("return document.documentElement.scrollWidth <= innerWidth"))
                .isEqualTo(true);
        phone.screenshot("rain-still-phone");
        family.cancelRain(rain);
        phone.seeText(".rain-result", "共抢到");
        phone.screenshot("rain-result-phone");
    }
}
