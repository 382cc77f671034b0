package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.testing.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/** Support and bookkeeping at the console: users, their packets and prizes, the books, the audit log. */
class ConsoleSupportIT extends ConsoleFixture {
    @Test
    void aUserIsFrozenAndUnfrozenAndTheAuditLogHasIt() {
        go("users/mallory");
        ask("user", "freeze");
        page.type("dialog [name=reason]", "a stolen phone");
        confirm();
        page.seeText("[data-panel=user] [data-field='frozen.reason']", "a stolen phone");
        assertThat(page.count("[data-panel=user] [data-do=freeze]")).isZero();
        go("users");
        page.seeText("[data-panel=restrictions] [data-word=frozen]", "frozen");
        page.click("[data-panel=restrictions] a[href='#/users/mallory']");
        ask("user", "unfreeze");
        page.type("dialog [name=reason]", "it is found");
        confirm();
        page.see("[data-panel=user] [data-do=freeze]");

        go("audit");
        page.see("[data-panel=audit] tbody tr");
        Eventually.eventually(
                Duration.ofSeconds(30),
                () -> { // on a later page: the log begins with its oldest row
                    if (!page.see("[data-panel=audit] tbody").getText().contains("/v1/users/{user}/unfreeze")) {
                        page.click("[data-panel=audit] .more");
                    }
                    assertThat(page.see("[data-panel=audit] tbody").getText()).contains("/v1/users/{user}/unfreeze");
                });
        page.screenshot("console-audit");
        page.js("""
                const isOther = (row) => !row.textContent.includes('freeze'); // another test's may be wider than a screen
                [...document.querySelectorAll('tbody tr')].filter(isOther).forEach((row) => { row.hidden = true; });
                """);
        assertWellLaidOut("main");
    }

    @Test
    void aPageThatComesLateIsNotAddedToAnotherList() {
        // Given a log whose second page is on its way
        page.js("""
                const real = window.fetch;
                const rows = (actor, next) => new Response(JSON.stringify({ items: [{ at: '2026-02-17T00:00:00Z', actor }], next }));
                window.fetch = async (url, more) => {
                  if (!url.includes('/v1/audit?')) return real(url, more);
                  const query = new URL(url).searchParams;
                  if (query.has('actor')) return rows('filtered', null);
                  if (!query.has('cursor')) return rows('first', 'next');
                  await new Promise((resolve) => { window.release = resolve; });
                  return rows('late', null);
                };
                """);
        go("audit");
        page.click("[data-panel=audit] .more");
        page.seeTrue("return window.release !== undefined");

        // When the log is filtered meanwhile
        page.type("[data-panel=audit] [name=actor]", "bob");
        page.press(Keys.ENTER);
        page.seeText("[data-panel=audit] tbody", "filtered");
        page.js("window.release(); return new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve)))");

        // Then
        assertThat(page.see("[data-panel=audit] tbody").getText())
                .contains("filtered")
                .doesNotContain("late");
    }

    @Test
    void aPacketThatWasSentForAUserIsCancelledAndTheStatementSaysSo() {
        deposit("amy", "CNY", 10_000);
        go("users/amy");
        ask("sent", "sendFor");
        page.type("dialog [name=group]", "family");
        page.paste("dialog [name=kind]", "lucky");
        page.type("dialog [name=asset]", "CNY");
        page.type("dialog [name=amount]", "888");
        page.type("dialog [name=count]", "5");
        confirm();
        page.click("[data-panel=sent] tbody a");
        ask("packet", "cancelPacket");
        confirm();
        page.seeText("[data-panel=packet] [data-word=cancelled]", "cancelled");
        assertThat(page.count("[data-do=closePacket]")).isZero();

        go("users/amy");
        assertThat(page.see("[data-panel=statement] form").getText().indexOf("From"))
                .as("the order of the contract")
                .isLessThan(page.see("[data-panel=statement] form").getText().indexOf("To"));
        page.type("[data-panel=statement] [name=asset]", "CNY");
        page.press(Keys.ENTER);
        page.seeText("[data-panel=statement] [data-field=closing]", "¥100.00");
        page.seeText("[data-panel=statement] [data-word=refund]", "refund");
        page.screenshot("console-statement");
        assertWellLaidOut("main");
    }

    @Test
    void aPrizeThatIsWonIsSent() {
        String draw = post(
                        "/v1/draws",
                        "{\"name\":\"Mugs\",\"closesAt\":\"2090-01-01T00:00:00Z\",\"mode\":\"weights\",\"prizes\":"
                                + "[{\"name\":\"mug\",\"category\":\"things\",\"weight\":1}]}")
                .getString("id");
        post("/v1/draws/" + draw + "/plays", "{}");

        go("draws/" + draw);
        page.click("[data-panel=wins] [data-do=fulfil]");
        page.paste("dialog [name=state]", "sent");
        page.type("dialog [name=note]", "parcel 17");
        confirm();
        page.seeText("[data-panel=wins] [data-word=sent]", "sent");
        page.seeText("[data-panel=wins] tbody", "parcel 17");
    }

    @Test
    void depositsOfManyAreMadeAndExportsAreSavedAsFiles(@TempDir Path directory) {
        // Given two deposits of one request
        go("users");
        ask("deposits", "depositMany");
        page.paste("#definition", """
            {"deposits": [{"user": "dora", "asset": "CNY", "amount": 1234, "reference": "order-41"},
                          {"user": "emil", "asset": "CNY", "amount": 4321, "reference": "order-42"}]}
            """);
        page.click("dialog button[type=submit]");
        page.seeText("dialog [data-answer=depositMany]", "order-42");
        page.click("dialog [data-answer=depositMany] .main-button");
        page.seeNo("dialog");

        // When
        page.saveTo(directory);
        go("users/dora");
        page.seeText("[data-panel=balances] tbody [data-amount='1234']", "¥12.34");
        page.type("[data-panel=statement] [name=asset]", "CNY");
        page.press(Keys.ENTER);
        page.see("[data-panel=statement] tbody [data-amount='1234']");
        page.click("[data-panel=statement] [data-file=csv]");

        // Then
        assertThat(saved(directory.resolve("statement-dora.csv")))
                .startsWith("\uFEFFid,at,kind,")
                .contains(",deposit,CNY,1234,1234,")
                .doesNotContain("4321");

        // When
        go("audit");
        page.click("[data-panel=audit] [data-file=csv]");

        // Then
        assertThat(saved(directory.resolve("audit.csv")))
                .startsWith("\uFEFF")
                .contains(",backend,service,")
                .contains("/v1/deposits");
    }

    /** A file that the browser saves: it has another name until it is whole, and one of its own name that is empty. */
    private static String saved(Path file) {
        return Eventually.eventuallyGet(Duration.ofSeconds(20), () -> {
            String text = Files.readString(file);
            assertThat(text).isNotEmpty();
            return text;
        });
    }

    @Test
    void anAssetIsDeclaredWithACapAndTheTotalsOfADayAreShown() {
        go("assets");
        ask("assets", "makeAsset");
        page.type("dialog [name=code]", "GEMS");
        page.type("dialog [name=scale]", "2");
        page.type("dialog [name=symbol]", "G");
        page.type("dialog [name='caps.share']", "500");
        confirm();
        page.seeText("[data-panel=assets] [data-field='caps.share'] [data-amount='500']", "5.00 GEMS");
        deposit("carol", "GEMS", 1_234);

        LocalDate today = LocalDate.now(ZoneOffset.UTC);
        go("books");
        page.see("[data-panel=totals] input[type=date][name=from]");
        page.paste("[data-panel=totals] [name=from]", today.minusDays(1).toString());
        page.paste("[data-panel=totals] [name=to]", today.plusDays(2).toString());
        page.click("[data-panel=totals] .filters button");
        page.seeText("[data-panel=totals] tbody [data-amount='1234']", "12.34 GEMS");
        page.type("[data-panel=allTransfers] [name=user]", "carol");
        page.press(Keys.ENTER);
        ask("allTransfers", "reverse");
        page.type("dialog [name=reason]", "the wrong user");
        confirm();
        page.seeText("[data-panel=allTransfers] [data-word=reversal]", "reversal");
        assertWellLaidOut("main");
    }
}
