package dev.hongbao.page;

import static dev.hongbao.page.Home.PICTURES;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** Names and pictures that the host gives, on the page. */
class ProfilePageIT extends PageUse {
    @Override
    String group() {
        return DEMO;
    }

    private static String row(String packet, String within) {
        return Visitor.row(packet) + " " + within;
    }

    @Test
    void theHostsNamesAndPicturesAreShown() throws Exception {
        // Given somebody with a name and a picture, one with a picture from elsewhere, one with a name of markup, one
        // without, and one with a picture from where nothing can be
        for (String user : List.of("u-4711", "u-4712", "u-4713", "u-4714", "u-4715")) {
            family.admit(user);
        }
        family.show("u-4711", new JsonObject().put("displayName", "小明").put("avatar", PICTURES.origin() + "/ming.png"));
        family.show(
                "u-4712",
                new JsonObject().put("displayName", "Alice").put("avatar", "https://elsewhere.example/a.png"));
        family.show("u-4713", new JsonObject().put("displayName", "<img src=x onerror=alert(1)>"));
        family.show("u-4715", new JsonObject().put("avatar", "https://1.2.3.08/a.png"));
        mei.enter(home.base, "demo-mei");
        Browser page = mei.browser();

        // When they send
        JsonObject one = new JsonObject().put("count", 1).put("amount", 100);
        String withPicture = family.send("u-4711", "恭喜发财", one);
        String elsewhere = family.send("u-4712", "Good luck", one);
        String markup = family.send("u-4713", "Markup", one);
        String nameless = family.send("u-4714", "Nobody", one);
        String nowhere = family.send("u-4715", "Nowhere", one);

        // Then names are shown, a picture only from where it may come from, initials for the others, and an id where
        // there is no name
        page.seeText(row(withPicture, ".by b"), "小明");
        page.seeTrue("const img = document.querySelector(\"" + row(withPicture, ".face img")
                + "\"); return img !== null && img.complete && img.naturalWidth === 96");
        page.seeText(row(elsewhere, ".by b"), "Alice");
        assertThat(page.see(row(elsewhere, ".face text")).getText()).isEqualTo("A");
        assertThat(page.count(row(elsewhere, ".face img"))).isZero();
        page.seeText(row(markup, ".by b"), "<img src=x onerror=alert(1)>");
        page.seeText(row(nameless, ".by b"), "u-4714");
        assertThat(page.see(row(nameless, ".face text")).getText()).isEqualTo("U");
        page.seeText(row(nowhere, ".by b"), "u-4715");
        assertThat(PICTURES.asked).contains("/ming.png null").allMatch(request -> request.endsWith(" null"));
        page.screenshot("profiles");

        // When one of them wins a share, then the list of claims names them too
        family.claim("u-4711", elsewhere);
        mei.seeState(elsewhere, "drained");
        mei.look(elsewhere);
        page.seeText(".claim[data-user='u-4711'] .claim-who", "小明");
        page.see(".claim[data-user='u-4711'] .face img");
        page.screenshot("profiles-claims");
        mei.close(elsewhere);
        page.seeText(".timeline", "小明");
        assertThat(Looks.cut(page, ".timeline")).isEmpty();

        // And who comes in later sees the same
        ben.enter(home.base, "demo-ben");
        ben.browser().seeText(row(withPicture, ".by b"), "小明");
        ben.browser().see(row(withPicture, ".face img"));
    }

    @Test
    void aPrizesPictureAndTextAreShownAtTheWheel() {
        // Given a wheel of whose prizes the host has pictures and a text; of the first one from where none may come
        mei.enter(home.base, "demo-fang");
        Browser page = mei.browser();
        page.js("""
                const real = window.fetch;
                window.fetch = async (url, more) => {
                  const response = await real(url, more);
                  if (!/\\/v1\\/draws\\/[^/]+$/.test(url)) {
                    return response;
                  }
                  const draw = await response.json();
                  draw.prizes.forEach((prize, i) => {
                    prize.picture = `${i === 0 ? 'https://elsewhere.example' : arguments_[0]}/prize.png`;
                    prize.text = 'Made by <b>hand</b>';
                  });
                  return new Response(JSON.stringify(draw), { status: 200 });
                };
                """.replace("arguments_[0]", "'" + PICTURES.origin() + "'"));

        // When
        page.click(".to-wheel");
        page.see(".segment image");

        // Then it is on the wheel, and with what was won
        assertThat(page.count(".segment image")).isEqualTo(page.count(".segment") - 1);
        page.click("[data-spin='10']");
        page.see(".wheel-result[data-result='10']");
        page.see(".stage.still");
        page.seeText(".prize-text", "Made by <b>hand</b>");
        assertThat(page.count(".haul image")).isPositive();
        assertThat(PICTURES.asked).contains("/prize.png null");
        page.screenshot("wheel-pictures");
        page.press(Keys.ESCAPE);
    }

    @Test
    void aMemberOfTheDemoIsNamedByTheTokenInTheReadersLanguageUnlessTheHostSaysMore() throws Exception {
        // Given
        mei.enter(home.base, "demo-fang");
        ben.enter(home.base, "demo-ben");
        mei.send("1", 1, "By token", form -> {});
        String packet = ben.seePacket("By token");
        ben.browser().seeText(row(packet, ".by b"), "Fang");

        // When
        family.show("demo-fang", new JsonObject().put("displayName", "Auntie Fang"));
        mei.send("1", 1, "By the host", form -> {});

        // Then
        String second = ben.seePacket("By the host");
        ben.browser().seeText(row(second, ".by b"), "Auntie Fang");
    }
}
