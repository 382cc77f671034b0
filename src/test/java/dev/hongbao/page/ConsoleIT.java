package dev.hongbao.page;

import static dev.hongbao.page.Home.PROVIDER;
import static dev.hongbao.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.values.Caller.Role;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** An operator at the console, in a browser. */
class ConsoleIT extends ConsoleFixture {
    @Test
    void onlyATokenOfRoleServiceOpensItAndTheTabAloneKeepsIt() {
        // Given
        page.click("[data-do=leave]");
        page.see("#token");
        assertThat(page.js("return sessionStorage.length")).isEqualTo(0L);

        // When it is no token, a user's, one that nobody signed
        page.type("#token", "nonsense");
        page.press(Keys.ENTER);
        page.seeText("[role=alert]", "This is not a token");
        page.paste("#token", token(Role.USER));
        page.press(Keys.ENTER);
        page.seeText("[role=alert]", "This token is a user's");
        page.screenshot("console-sign-in");
        page.paste("#token", token(Role.SERVICE).replaceAll("[^.]*$", "AAAA"));
        page.press(Keys.ENTER);
        page.seeText("[role=alert]", "Get a new token");
        assertWellLaidOut(".sign-in");

        // Then nothing is shown, and the browser names the refusals
        assertThat(page.count("[data-panel]")).isZero();
        assertThat(page.complaints()).hasSize(2).allMatch(line -> line.contains("/manage/session"));

        // When it is right, it stays over a reload, and is nowhere in the address
        page.paste("#token", token(Role.SERVICE));
        page.press(Keys.ENTER);
        page.see("[data-user=backend]");
        page.reload();
        page.see("[data-user=backend]");
        assertThat((String) page.js("return location.href"))
                .doesNotContain(".ey")
                .endsWith("/#/users");
        assertThat((String) page.js("return JSON.stringify(localStorage) + document.cookie"))
                .doesNotContain("ey");

        // When the server believes it no more
        page.js(
                "const held = JSON.parse(sessionStorage['hongbao.session']); held.token = arguments[0];"
                        + " sessionStorage['hongbao.session'] = JSON.stringify(held)",
                token(Role.USER));
        page.reload();
        page.seeText("[role=alert]", "This token is a user's");
        assertThat(page.js("return sessionStorage.length")).isEqualTo(0L);
        page.complaints();
    }

    @Test
    void theOverviewNeedsNoTokenAndEveryOtherViewAsksForOne() throws Exception {
        // Given a race
        Family family = home.family("race");
        String packet = family.send("demo-lei", "for the operator", new JsonObject().put("count", 3));
        family.claim("demo-anna", packet);

        // When
        page.click("[data-do=leave]");
        page.click("[data-view=overview]");

        // Then the server's own numbers are there, and nothing else
        page.see("[data-panel=now] [data-health=up]");
        for (String name : List.of("p99", "openPackets", "redisMemory")) {
            page.seeTrue("return Number(document.querySelector('[data-field=" + name + "] dd')?.innerText) > 0");
        }
        page.seeText("[data-field=servers] dd", "1");
        page.seeText("[data-field=version] dd", "development");
        assertThat(page.count(".plot canvas")).isEqualTo(5);
        assertThat(page.js("return [...document.querySelectorAll('[data-panel]')].map((it) => it.dataset.panel)"))
                .isEqualTo(List.of("now", "events"));
        assertThat(page.count("#token")).isZero();
        page.screenshot("console-overview");
        assertWellLaidOut("main");
        page.click(".language");
        page.resize(390, 844, 2);
        page.emulate("prefers-color-scheme", "dark");
        page.seeText("[data-panel=now] h2", "本服务器");
        page.screenshot("console-overview-phone");
        assertWellLaidOut("main");

        // And the others ask
        List<?> views =
                (List<?>) page.js("return [...document.querySelectorAll('[data-view]')].map((it) => it.dataset.view)");
        assertThat(views).hasSizeGreaterThan(10);
        for (Object view : views.subList(1, views.size())) {
            go(view.toString());
            page.see("[data-view=" + view + "][aria-current=page]");
            assertThat(page.count("#token")).as("%s", view).isEqualTo(1);
            assertThat(page.count("[data-panel], #find")).as("%s", view).isZero();
        }

        // When a token is given, the view is there, and the servers by name are in the overview
        page.paste("#token", token(Role.SERVICE));
        page.press(Keys.ENTER);
        page.see("[data-panel=audit]");
        go("overview");
        page.see("[data-panel=now]");
        page.see("[data-panel=servers] [data-field=address]");
    }

    @Test
    void aServerThatIsNoLongerReadySaysWhyAndWhatToDo() {
        // Given an overview that asks ten times as often
        page.openAfresh(home.management().toString(), """
                const real = { fetch: window.fetch.bind(window), setTimeout: window.setTimeout.bind(window) };
                const redis = { name: 'redis', status: 'DOWN', reason: 'Connection refused' };
                const checks = [{ name: 'postgres', status: 'UP' }, redis];
                const down = { status: 'DOWN', checks, since: { redis: '2026-11-22T11:00:00Z' } };
                const recent = { samples: [], events: [{ at: Date.now(), kind: 'void', count: 2 }] };
                window.setTimeout = (then, millis) => real.setTimeout(then, millis / 10);
                window.fetch = async (path, more) => {
                  if (window.isDown && path.endsWith('/health/ready')) return Response.json(down, { status: 503 });
                  return window.isDown && path.includes('/recent.json') ? Response.json(recent) : real.fetch(path, more);
                };
                """);
        page.see("[data-health=up]");

        // When its Redis is gone, as /health/ready would say, and a journal item was void
        page.js("window.isDown = true");

        // Then
        page.seeText("[data-health=down]", "not ready: redis");
        page.seeText("[data-check=redis]", "Redis does not answer · Since 22 Nov 2026");
        page.seeText("[data-check=redis]", "Connection refused");
        page.seeText("[data-check=redis]", "Start it, or wait for the failover");
        page.seeText("[data-panel=events] [data-word=void]", "look into it");
        page.screenshot("console-not-ready");
    }

    @Test
    void anOpenidProviderLetsOperatorsInAndNoTokenIsEverInAnAddress() {
        page.click("[data-do=leave]");
        page.see("#token");

        // When the provider gives what the server does not believe, the console says so
        PROVIDER.gives(token(Role.USER));
        page.click("[data-do=provider]");
        page.seeText("[role=alert]", "This token is a user's");

        // When it refuses
        PROVIDER.refuses();
        page.click("[data-do=provider]");
        page.seeText("[role=alert]", "access_denied");

        // When somebody else's answer comes
        page.open(home.management() + "?state=forged&code=stolen");
        page.seeText("[role=alert]", "did not succeed");
        assertThat(PROVIDER.asked()).isEqualTo(1);

        // When it knows the operator, who wanted the draws
        go("draws");
        PROVIDER.gives(token(Role.SERVICE));
        page.click("[data-do=provider]");
        page.see("[data-user=backend]");

        // Then it asked for what RFC 7636 wants, and nothing of it is left
        page.see("[data-panel=draws]");
        assertThat((String) page.js("return location.href"))
                .endsWith(home.management().getPort() + "/#/draws");
        assertThat((String) page.js("return JSON.stringify(Object.keys(sessionStorage))"))
                .isEqualTo("[\"hongbao.session\"]");
        assertThat(PROVIDER.scope()).isEqualTo("openid");
        page.complaints();
    }

    @Test
    void aUserIsLookedUpAndMoneyMovesOnlyThroughADialogAlsoOnAPhoneAndInChinese() {
        // Given by the keyboard alone: the view, the user
        page.click("[data-view=users]");
        page.type("#find", "alice");
        page.press(Keys.ENTER);
        page.seeText("h1", "alice");
        assertThat(page.focused().getTagName()).isEqualTo("h1");

        // When a deposit is given up
        ask("balances", "deposit");
        page.press(Keys.ESCAPE);
        page.seeNo("dialog");
        assertThat(page.focused().getDomAttribute("data-do")).isEqualTo("deposit");
        page.seeText("[data-panel=balances]", "Nothing here");

        // When it is wrong, and then right
        ask("balances", "deposit");
        page.type("dialog [name=asset]", "yuan");
        page.type("dialog [name=amount]", "123456");
        page.press(Keys.ENTER);
        page.seeText("dialog [role=alert]", "#/asset");
        page.type("dialog [name=asset]", "CNY");
        page.seeText("dialog", "¥1,234.56");
        page.screenshot("console-dialog");
        assertWellLaidOut("dialog");
        page.resize(390, 844, 2);
        page.screenshot("console-phone-dialog");
        assertWellLaidOut("dialog");
        confirm();

        // Then
        page.seeText("[data-panel=balances] [data-amount='123456']", "¥1,234.56");
        page.click("[data-panel=transfers] header button:last-child");
        page.seeText("[data-panel=transfers] [data-word=deposit]", "deposit");
        page.screenshot("console-phone");
        assertWellLaidOut("[data-panel=transfers] tbody");

        // And on a desk in Chinese
        page.resize(1280, 860, 1);
        page.click(".language");
        page.seeText("[data-panel=transfers] [data-word=deposit]", "充值");
        assertThat(page.js("return document.documentElement.lang")).isEqualTo("zh-CN");
        page.screenshot("console-user-zh");
        assertWellLaidOut("main");
        assertThat(page.complaints()).hasSize(1).allMatch(line -> line.contains("/deposits"));
    }

    @Test
    void aCampaignIsMadePausedAndResumed() {
        deposit("backend", "POINTS", 200_000);
        page.click("[data-view=campaigns]");
        ask("campaigns", "makeCampaign");
        confirm();
        page.seeText("[data-panel=campaigns] tbody tr", "Spring shoes"); // the first row: another test's stood there
        page.click("[data-panel=campaigns] tbody a");
        page.seeText("[data-panel=campaign] [data-field=name]", "Spring shoes");

        ask("campaign", "pause");
        confirm();
        page.seeText("[data-panel=campaign] [data-word]", "paused");
        ask("campaign", "resume");
        confirm();
        page.seeText("[data-panel=campaign] [data-word]", "open");
        assertThat(page.count("[data-do=resume]")).isZero();
        page.screenshot("console-campaign");
        assertWellLaidOut("main");
    }

    @Test
    void aDrawIsTriedThenMadeFromTheSameText() {
        deposit("backend", "CNY", 200_000);
        page.click("[data-view=draws]");
        ask("makeDraw", "simulate");
        page.paste("#definition", "{\"name\": 1}");
        page.click("dialog button[type=submit]");
        page.seeText("dialog [role=alert]", "#/");
        page.paste(
                "#definition",
                "{\"name\": \"Tried\", \"closesAt\": \"2090-01-01T00:00:00Z\", \"mode\": \"weights\", \"prizes\":"
                        + " [{\"name\": \"some\", \"weight\": 1}, {\"name\": \"none\", \"weight\": 3}]}");
        page.click("dialog button[type=submit]");
        page.seeText("dialog [data-word=kept]", "the promise is kept");
        page.screenshot("console-simulated");
        page.press(Keys.ESCAPE);
        page.seeNo("dialog");

        ask("makeDraw", "makeDraw");
        assertThat((String) page.js("return document.querySelector('#definition').value"))
                .contains("Tried");
        page.click("dialog button[type=submit]");
        String draw = page.see("dialog [data-answer] [data-field=id] dd").getText();
        page.press(Keys.ESCAPE);
        page.seeNo("dialog");

        page.type("#find", draw);
        page.press(Keys.ENTER);
        page.seeText("[data-panel=draw] [data-field=name]", "Tried");
        page.screenshot("console-draw");
        assertWellLaidOut("main");
        ask("draw", "closeDraw");
        page.seeText("dialog", "Look twice");
        confirm();
        page.seeText("[data-panel=draw] [data-field=status]", "clos");
        assertThat(page.complaints()).hasSize(1);
    }

    @Test
    void aRainIsMadeAndCancelled() {
        deposit("backend", "POINTS", 20_000);
        page.click("[data-view=rains]");
        ask("rains", "makeRain");
        confirm();
        page.seeText("[data-panel=rains] tbody tr", "Evening rain");
        page.click("[data-panel=rains] tbody a");
        page.seeText("[data-panel=rain] [data-field=status]", "planned");

        String rain = page.see("[data-panel=rain] [data-field=id] dd").getText();
        ask("rain", "cancelRain");
        confirm();
        page.seeNo("[data-panel=rain] [data-do=cancelRain]");

        // A drop is shown once it is closed; its sender is the rain, and no user
        String sender = "[data-panel=packets] [data-field=sender] a[href='#/rains/" + rain + "']";
        go("packets");
        eventually(Duration.ofMinutes(1), () -> {
            page.click("[data-panel=packets] header button:last-child");
            assertThat(page.count(sender)).isPositive();
        });
        page.click(sender);
        page.seeText("[data-panel=rain] [data-field=id]", rain);
    }

    @Test
    void aWebhooksSecretIsShownOnceAndItIsDeleted() {
        page.click("[data-view=webhooks]");
        ask("webhooks", "makeWebhook");
        page.type("dialog [name=url]", "https://shop.example.com/hongbao");
        page.type("dialog [name=types]", "claim.settled packet.drained");
        page.press(Keys.ENTER);
        page.seeText("dialog [data-answer] [data-field=secret]", "whsec_");
        page.press(Keys.ESCAPE);
        page.seeNo("dialog");

        page.click("[data-panel=webhooks] tbody a");
        page.seeText("[data-panel=webhook] [data-field=types]", "claim.settled, packet.drained");
        assertThat((String) page.js("return document.body.textContent")).doesNotContain("whsec_");
        page.see("[data-panel=deliveries]");
        page.screenshot("console-webhook");
        ask("webhook", "deleteWebhook");
        confirm();
        go("webhooks");
        page.seeText("[data-panel=webhooks]", "Nothing here");
        page.complaints(); // what was deleted was asked for once more
    }

    @Test
    void theBooksAreCheckedAndServersShardsAndQuarantineAreShown() {
        page.click("[data-view=checks]");
        ask("checks", "check");
        confirm();
        page.see("[data-checks=ended]");
        page.seeText("[data-checks]", "The books are correct");
        page.screenshot("console-checks");
        assertWellLaidOut("main");

        page.click("[data-view=servers]");
        page.seeText("[data-panel=servers] [data-field=shards]", "4");
        page.see("[data-panel=shards] tbody tr:nth-child(4):last-child");
        page.screenshot("console-servers");

        page.click("[data-view=quarantine]");
        page.seeText("[data-panel=quarantine]", "Nothing here");
    }
}
