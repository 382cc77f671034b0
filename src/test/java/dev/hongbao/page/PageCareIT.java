package dev.hongbao.page;

import static dev.hongbao.page.Visitor.row;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** What saves a person a step: the focus, what is selected, and for whom a packet is. */
class PageCareIT extends PageUse {
    @Test
    void aNumberIsSelectedHoweverItsFieldGetsTheFocus() throws Exception {
        // Given a form whose numbers are filled in
        enter(mei, "demo-mei");
        Browser page = mei.browser();
        page.click(".send");
        String field = "input[name=amount]";
        String value = page.see(field).getDomProperty("value");
        assertThat(value).isNotEmpty();

        for (Runnable focus : List.<Runnable>of(
                () -> page.js("document.querySelector(arguments[0]).focus()", field), () -> page.click(field))) {
            page.js("document.activeElement.blur()");

            // When it gets the focus
            focus.run();

            // Then it is selected
            assertThat(page.js(
                            "const field = document.querySelector(arguments[0]);"
                                    + " return field.value.slice(field.selectionStart, field.selectionEnd)",
                            field))
                    .isEqualTo(value);
        }

        // When one types, then that replaces it
        page.focused().sendKeys("7");
        assertThat(page.see(field).getDomProperty("value")).isEqualTo("7");

        // When one clicks again, then that sets the caret
        page.click(field);
        assertThat(
                        page.js(
                                "const { selectionStart, selectionEnd } = document.activeElement; return selectionStart === selectionEnd"))
                .isEqualTo(true);
    }

    @Test
    void theFocusIsOnTheHeadingAtTheDoorAndAfterIt() {
        // Given the door
        Browser page = ben.browser();
        ben.knock(home.base);
        page.see("[data-member=demo-ben]");
        page.seeTrue("return document.activeElement.matches('.gate h1')");

        // When one enters with the keyboard
        page.js("document.querySelector('[data-member=demo-ben]').focus()");
        page.press(Keys.ENTER);
        page.see("[data-line=open]");

        // Then the focus is at the group's name, and Tab goes on from there
        page.seeTrue("return document.activeElement.matches('.top-bar h1')");
        page.press(Keys.TAB);
        assertThat(page.focused().getDomAttribute("class")).isEqualTo("language");

        // When one leaves
        page.js("document.querySelector('.members .quiet-button').focus()");
        page.press(Keys.ENTER);
        page.seeTrue("return document.activeElement.matches('.gate h1')");
    }

    @Test
    void anExclusivePacketSaysForWhomToWhoMayKnow() throws Exception {
        // Given one that is for one of two
        enter(mei, "demo-mei");
        enter(ben, "demo-ben");
        String forBen = family.send("demo-lei", "for Ben and Anna", exclusive("demo-ben", "demo-anna"));
        mei.send("5", 1, "for Uncle", form -> {
            form.js("document.querySelector('input[value=exclusive]').click()");
            form.js("document.querySelector('input[value=demo-uncle]').click()");
        });
        String forUncle = mei.seePacket("for Uncle");

        // Then its sender and its recipients read the names, on it and when it is opened
        mei.browser().seeText(row(forUncle) + " .packet-foot", "Exclusive packet · for Uncle");
        ben.browser().seeText(row(forBen) + " .packet-foot", "Exclusive packet · for ");
        assertThat(ben.browser().see(row(forBen) + " .packet-foot").getText()).contains("Ben", "Anna");
        ben.grab(forBen);
        assertThat(ben.amountWon()).isPositive();
        ben.browser().seeText(".for-whom", "for ");
        assertThat(ben.browser().see(".for-whom").getText()).contains("Ben", "Anna");
        ben.close(forBen);

        // And others that it is for somebody, without names
        ben.seeState(forUncle, "open");
        assertThat(ben.browser().see(row(forUncle) + " .packet-foot").getText())
                .contains("Exclusive packet")
                .doesNotContain("Uncle");
    }

    private static JsonObject exclusive(String... users) {
        return new JsonObject().put("kind", "exclusive").put("recipients", List.of(users));
    }

    @Test
    void theGuideIsSearchedWithTheKeyboard() {
        // Given a page of the guide
        Browser page = ben.browser();
        page.open(home.base + "/docs/guide/tokens.html");

        // When one types words that stand in the text of another page, in any order
        page.type("#query", "pg_promote fail");
        page.seeTrue("return document.querySelector('[role=status]').textContent.endsWith(' sections')");

        // Then the arrow leads to the first section with them, and Enter opens it
        page.press(Keys.ARROW_DOWN);
        assertThat(page.focused().getText()).contains("Fail over");
        page.press(Keys.ENTER);
        page.seeTrue("return location.pathname.endsWith('/docs/guide/backup.html') && location.hash === '#fail-over'");

        // When nothing has the words, then it says so; Escape empties the search
        page.type("#query", "nothing-has-this-word");
        page.seeTrue("return document.querySelector('[role=status]').textContent === '0 sections'");
        page.press(Keys.ESCAPE);
        page.seeTrue(
                "return document.querySelector('#query').value === '' && !document.querySelector('[role=search] li')");

        // And a Chinese word is found
        page.type("#query", "手气最佳");
        page.see("[role=search] li");
    }
}
