package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** The wheel on the page: it stops where the server has decided, and tells everybody. */
class WheelIT extends PageUse {
    private static final int START_POINTS = 500;

    @Override
    String group() {
        return DEMO;
    }

    /** The number of the prize that is seen below the pointer's tip, from 1. */
    private static long pointedAt(Browser page) {
        return (Long) page.js("""
                const box = document.querySelector('.wheel-face').getBoundingClientRect();
                const under = document.elementsFromPoint(box.x + box.width / 2, box.y + box.height * 0.16);
                const slice = under.find(each => each.matches('.slice'));
                return [...document.querySelectorAll('.slice')].indexOf(slice) + 1;
                """);
    }

    private static long chosen(Browser page) {
        return (Long)
                page.js("return [...document.querySelectorAll('.segment')].findIndex(s => s.matches('.chosen')) + 1");
    }

    private static void settle(Browser page, int plays) {
        page.see(".wheel-result[data-result='" + plays + "']");
        page.see(".stage.still");
    }

    @Test
    void aSpinStopsAtItsPrizeAndItsCostIsShownAlsoToWhoClosesTheWheelEarly() throws Exception {
        // Given
        mei.browser().move();
        enter(mei, "demo-mei");
        Browser page = mei.browser();
        page.click(".to-wheel");
        page.see(".wheel-purse [data-points='" + START_POINTS + "']");
        page.see("[data-chances='50']");
        page.seeText(".history", "None yet");
        page.screenshot("wheel");

        // When
        page.click("[data-spin='1']");
        page.see(".stage.turning");
        page.screenshot("wheel-turning");
        settle(page, 1);

        // Then
        assertThat(pointedAt(page)).isPositive().isEqualTo(chosen(page));
        assertThat(page.see(".wheel-said").getText()).matches("You won .+!|Nothing this time.*");
        page.see("[data-chances='49']");
        page.see(".history [data-play]");
        assertThat(page.count(".history [data-play]")).isEqualTo(1);
        page.screenshot("wheel-stopped");
        page.press(Keys.ESCAPE);
        page.seeNo("dialog");
        page.see(".records [data-kind=cost]");

        // When the wheel is closed before the answer
        page.click(".to-wheel");
        page.see("[data-spin='1']");
        mei.holdBack("play");
        page.click("[data-spin='1']");
        page.seeTrue("return window.release !== undefined");
        page.click("dialog .close");
        page.seeNo("dialog");
        page.js("window.release()");

        // Then
        page.seeTrue("return document.querySelectorAll('.side-account .records [data-kind=cost]').length === 2");
    }

    @Test
    void tenSpinsAtOnceAreAllShownAndTheGroupHearsOfTheWins() throws Exception {
        // Given
        enter(mei, "demo-lei");
        enter(ben, "demo-ben");
        Browser page = mei.browser();
        page.click(".to-wheel");

        // When
        page.click("[data-spin='10']");
        settle(page, 10);

        // Then
        assertThat(page.count(".haul li")).isEqualTo(10);
        assertThat(pointedAt(page)).isPositive().isEqualTo(chosen(page));
        page.see("[data-chances='40']");
        page.screenshot("wheel-ten");
        page.click("dialog .close");
        ben.browser().seeText(".note.win", "Lei won");
        mei.browser().seeText(".note.win", "Lei won");
        ben.browser().screenshot("wheel-won");
    }

    @Test
    void theKeyboardIsEnoughAndWhoWantsNoMovementSeesNone() throws Exception {
        // Given somebody who has played most of the day's chances
        for (int ten = 0; ten < 4; ten++) {
            family.playTen("demo-anna");
        }
        Browser page = mei.browser();
        enter(mei, "demo-anna");
        page.js("document.querySelector('.to-wheel').focus()");
        page.press(Keys.ENTER);
        page.see("[data-spin='10']:enabled");
        String newest = page.see(".history [data-play]").getDomAttribute("data-play");

        // When Tab reaches the button, and Enter is pressed
        for (int i = 0;
                i < 10 && !Boolean.TRUE.equals(page.js("return document.activeElement.matches('[data-spin]')"));
                i++) {
            page.press(Keys.TAB);
        }
        page.press(Keys.ENTER);
        settle(page, 1);

        // Then it keeps the focus, nothing moves, and ten are too many
        assertThat(page.js("return document.activeElement.dataset.spin")).isEqualTo("1");
        assertThat(page.js("return document.getAnimations().length")).isEqualTo(0L);
        page.see("[data-chances='9']");
        page.see("[data-spin='10']:disabled");
        page.see("[data-spin='1']:enabled");

        // When more of the history is asked for twice at once, and then to its end, then it has each play once
        page.seeTrue("return document.querySelector('.history [data-play]').dataset.play !== '" + newest + "'");
        page.js("for (const more of Array(2).fill(document.querySelector('.history .quiet-button'))) more.click()");
        for (int plays = 20; plays <= 40; plays += 10) {
            page.seeTrue("return document.querySelectorAll('.history [data-play]').length >= " + plays);
            page.click(".history .quiet-button");
        }
        page.seeNo(".history .quiet-button");
        assertThat(page.count(".history [data-play]")).isEqualTo(41);

        // And Escape leads back
        page.press(Keys.ESCAPE);
        page.seeNo("dialog");
        assertThat(page.focused().getDomAttribute("class")).isEqualTo("to-wheel");
    }
}
