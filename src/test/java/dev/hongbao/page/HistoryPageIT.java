package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.time.Year;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** What one received and sent, by year, on the page. */
class HistoryPageIT extends PageUse {
    /** Of two shares. */
    private static final JsonObject TWO = new JsonObject().put("amount", 200).put("count", 2);

    private static String totals(String side, int year, int count) {
        return ".totals[data-side=" + side + "][data-year='" + year + "'][data-count='" + count + "']";
    }

    @Test
    void aYearIsAddedUpAndListedAndMovesOnWhileItIsLookedAt() throws Exception {
        // Given somebody with a name of the host's, whose packet mei shares; a share that is the largest for sure; a
        // packet
        // of mei's own
        int year = Year.now().getValue();
        family.admit("u-1");
        family.admit("u-mei");
        family.show("u-1", new JsonObject().put("displayName", "小明"));
        String first = family.send("u-1", "One", TWO.copy().put("kind", "equal"));
        family.claim("u-mei", first);
        String lucky =
                family.send("u-1", "Two", new JsonObject().put("amount", 3).put("count", 2));
        family.claim("u-mei", lucky);
        family.claim("u-1", lucky);
        family.send("u-mei", "From me", TWO);
        enter(mei, "u-mei");
        Browser page = mei.browser();

        // When she looks
        page.click(".side-account .to-history");

        // Then
        page.see(totals("received", year, 2));
        page.seeText("[data-received='" + first + "']", "小明");
        page.seeText("[data-received='" + first + "'] .record-sum", "¥1.00");
        long largest = (Long) page.js("return document.querySelectorAll('[data-received] .luckiest').length");
        page.see("[data-luckiest='" + largest + "']");
        page.screenshot("history-received");
        assertThat(Looks.cut(page, ".totals")).isEmpty();
        assertThat(Looks.cut(page, "dialog .records")).isEmpty();
        assertThat(Looks.tooPale(page, "dialog .totals *, dialog .records *, dialog .sides *"))
                .isEmpty();

        // When she wins another share meanwhile, then it is there
        family.claim(
                "u-mei",
                family.send("u-1", "Three", new JsonObject().put("amount", 7).put("count", 1)));
        page.see(totals("received", year, 3));

        // When she goes to the other side with the keyboard
        page.js("document.querySelector('input[name=side]:checked').focus()");
        page.press(Keys.ARROW_RIGHT);

        // Then
        page.see(totals("sent", year, 1));
        page.see(".totals-sum[data-amount='200']");
        page.seeText("[data-sent]", "From me");
        page.screenshot("history-sent");

        // When she chooses the year before, then there is nothing
        page.js(
                "const years = document.querySelector('select[name=year]'); years.value = arguments[0];"
                        + " years.dispatchEvent(new Event('change', { bubbles: true }))",
                year - 1);
        page.see(totals("sent", year - 1, 0));
        page.seeText(".past-none", "Nothing yet.");
        page.press(Keys.ESCAPE);
        page.seeNo("dialog");
    }

    @Test
    void itFitsAPhoneInChinese() throws Exception {
        // Given
        family.admit("u-2");
        family.admit("u-ben");
        family.show("u-2", new JsonObject().put("displayName", "名字很长很长很长很长很长很长很长很长的人"));
        family.claim("u-ben", family.send("u-2", "One", TWO));
        Browser phone = ben.browser();
        phone.resize(360, 740, 2);
        enter(ben, "u-ben");
        phone.click(".language");

        // When
        phone.click(".wallet-chip");
        phone.click("dialog .to-history");

        // Then
        phone.see(totals("received", Year.now().getValue(), 1));
        phone.seeText("dialog .totals", "u-ben共收到");
        phone.see("[data-received]");
        assertThat(phone.js("return document.documentElement.scrollWidth <= innerWidth"))
                .isEqualTo(true);
        assertThat(Looks.cut(phone, ".totals")).isEmpty();
        assertThat(Looks.cut(phone, "dialog .records")).isEmpty();
        phone.screenshot("history-phone");
    }
}
