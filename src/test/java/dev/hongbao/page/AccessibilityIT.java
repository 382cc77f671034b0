package dev.hongbao.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.tools.build.GuidePages;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** axe finds nothing on any page, and nothing is wider than the screen, on a desktop by day and on a phone by night. */
class AccessibilityIT extends PageUse {
    private static final List<String> TAGS = List.of("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice");
    private static final String CONTRAST = "color-contrast";

    /** Each violation in a line: the rule, the element, and what is wrong with it. */
    private static final String VIOLATIONS = """
            const [within, runOnly, left] = arguments;
            return axe.run(within === 'first' ? { include: window.first } : within,
              { runOnly, resultTypes: ['violations'], rules: left ? { [left]: { enabled: false } } : {} })
              .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
                nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary.replaceAll(/\\s+/g, ' ')}`)));
            """;

    /** Remembers, as {@code window.first}, one text of each kind that is not known. A kind is all that contrast goes by. Returns all kinds then. */
    private static final String FIRST_OF_A_KIND = """
            const known = new Set(arguments[0]);
            const kinds = new WeakMap();
            const kindOf = (element) => {
              if (!kinds.has(element)) {
                const style = getComputedStyle(element);
                const { color, fontSize, fontWeight, opacity, position, textShadow } = style;
                const { backgroundColor, backgroundImage, filter, mixBlendMode } = style;
                const behind = [element.parentElement ? kindOf(element.parentElement).behind : '',
                  backgroundColor, backgroundImage, filter, mixBlendMode, opacity, position].join(';');
                kinds.set(element, { behind, all: [behind, color, fontSize, fontWeight, textShadow].join(';') });
              }
              return kinds.get(element);
            };
            window.first = [...document.querySelectorAll(`${arguments[1]} *`)].filter((each) => {
              const says = each.checkVisibility() && (each.value || [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
              const kind = says && kindOf(each).all;
              return says && !known.has(kind) && known.add(kind);
            });
            return [...known];
            """;

    /** Lists the elements that are wider than the window. */
    private static final String WIDE = """
            return [...document.querySelectorAll('html, body, .room, .gate, .sheet, .timeline, .composer, .spins, .chapter')]
              .filter((each) => each.scrollWidth > innerWidth).map((each) => `${each.tagName} ${each.className} is too wide`);
            """;

    /** Puts the chapters of the guide one below the other. Their frame is the same. */
    private static final String CHAPTERS = """
            const texts = await Promise.all(arguments[0].map((name) => fetch(name === 'index' ? './' : `${name}.html`).then((got) => got.text())));
            document.querySelector('main').replaceChildren(...texts.map((text, i) => {
              const chapter = document.createElement('div');
              chapter.className = `chapter ${arguments[0][i]}`;
              chapter.append(...new DOMParser().parseFromString(text, 'text/html').querySelector('main').childNodes);
              return chapter;
            }));
            """;

    /** Leaves of the chapters what {@code window.first} is in: axe lays out all that there is before it compares two colours. */
    private static final String FIRST_ALONE = """
            document.querySelectorAll('.chapter > *').forEach((each) => window.first.some((first) => each.contains(first)) || each.remove());
            """;

    /** Hides rows of a table, and calls of a method, that are like those before them. */
    private static final String LIKE_ANOTHER = """
            const methods = new Set();
            const isLikeAnother = (each) => methods.has(each.className) || !methods.add(each.className);
            [...document.querySelectorAll('.opblock')].filter(isLikeAnother).forEach((each) => { each.style.display = 'none'; });
            document.querySelectorAll('.models .model-container:nth-of-type(n+3)').forEach((each) => { each.style.display = 'none'; });
            document.querySelectorAll('tbody tr:nth-child(n+4)').forEach((each) => { each.hidden = true; });
            """;

    private String axe;
    private Screen screen = Screen.DESKTOP;

    /** Of the texts whose contrast is known, by screen. */
    private final Map<Screen, List<?>> kinds = new EnumMap<>(Screen.class);

    private final List<String> violations = new ArrayList<>();

    private enum Screen {
        DESKTOP(1280, 860, "light"),
        PHONE(360, 740, "dark");

        private final int width;
        private final int height;
        private final String scheme;

        Screen(int width, int height, String scheme) {
            this.width = width;
            this.height = height;
            this.scheme = scheme;
        }
    }

    @BeforeAll
    void load() throws IOException {
        try (InputStream script = AccessibilityIT.class.getResourceAsStream("/axe.min.js")) {
            axe = new String(Objects.requireNonNull(script).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @AfterEach
    void nothingIsFound() {
        List<String> found = List.copyOf(violations);
        violations.clear();
        assertThat(found).isEmpty();
    }

    /** From now on a page is looked at on this screen. */
    private void use(Browser page, Screen next) {
        screen = next;
        page.resize(next.width, next.height, 1);
        page.emulate("prefers-color-scheme", next.scheme);
        awaitStill(page);
    }

    /** The colours of what moves are between two. */
    private static void awaitStill(Browser page) {
        page.seeTrue("return document.getAnimations().every(each =>"
                + " each.playState === 'finished' || each.effect.getComputedTiming().iterations === Infinity)");
    }

    /** Looks at what a person may see of the page's programs. @param place its name in what is found */
    private void look(Browser page, String place) {
        look(page, place, "html");
    }

    /** @param within what is new there */
    private void look(Browser page, String place, String within) {
        lookInside(page, place, within);
        note(place, page.js(WIDE));
    }

    /** Leaves the page on the narrowest screen, where the most scrolls. */
    private void lookInside(Browser page, String place, String within) {
        for (Screen each : Screen.values()) {
            use(page, each);
            lookAtContrast(page, place, within);
        }
        axe(page, place, within, TAGS, CONTRAST);
    }

    private void lookAtContrast(Browser page, String place, String within) {
        List<?> known = kinds.getOrDefault(screen, List.of());
        List<?> all = (List<?>) page.js(FIRST_OF_A_KIND, known, within);
        if (all.size() > known.size()) {
            axe(page, place, "first", List.of(CONTRAST));
            kinds.put(screen, all);
        }
    }

    private void axe(Browser page, String place, Object... arguments) {
        if (!Boolean.TRUE.equals(page.js("return Boolean(window.axe)"))) {
            page.js(axe);
        }
        note(place, page.js(VIOLATIONS, arguments));
    }

    private void note(String place, Object found) {
        ((List<?>) found).forEach(each -> violations.add(place + ", " + screen + ": " + each));
    }

    @Test
    void theDoor() {
        Browser page = mei.browser();
        mei.knock(home.base);
        look(page, "door");
    }

    @Test
    void theGroupItsPacketsAndItsForms() throws Exception {
        // Given a room without packets, then with some of every kind and state
        Browser page = mei.browser();
        enter(mei, "demo-mei");
        page.see(".quiet");
        look(page, "empty group", ".quiet");
        String taken = family.send("demo-lei", "all taken", new JsonObject());
        family.claim("demo-anna", taken);
        family.claim("demo-jun", taken);
        JsonObject terms = new JsonObject()
                .put("kind", "exclusive")
                .put("recipients", List.of("demo-mei", "demo-ben"))
                .put("passcode", "饺子");
        String secret = family.send("demo-anna", "for two", terms);
        String open = family.send("demo-grandma", "for all", new JsonObject());
        mei.seeState(taken, "drained");
        mei.seeState(open, "open");
        look(page, "group");

        // When one opens them
        mei.look(taken);
        page.see("[data-outcome=drained] .claim");
        look(page, "drained packet", "dialog");
        mei.close(taken);
        mei.look(secret);
        page.see("input[name=passcode]");
        look(page, "packet with a passcode", "dialog");
        mei.close(secret);
        mei.look(open);
        page.see(".cover.sealed .big-coin");
        look(page, "sealed packet", "dialog");
        page.click(".big-coin");
        assertThat(mei.amountWon()).isPositive();
        page.seeNo(".cover");
        look(page, "won packet", "dialog");
        mei.close(open);

        // And the forms
        page.click(".send");
        page.js("document.querySelector('input[value=exclusive]').click()");
        page.click("details summary");
        page.see("select[name=split]");
        page.type("input[name=amount]", "ten");
        look(page, "form", "dialog");
        page.press(Keys.ESCAPE);
        page.seeNo("dialog");
        page.js("document.querySelector('.wallet-chip').click()");
        page.see("dialog .records li");
        look(page, "wallet", "dialog");
        page.press(Keys.ESCAPE);
        page.seeNo("dialog");
    }

    @Test
    void theRain() throws Exception {
        Browser page = mei.browser();
        enter(mei, "demo-mei");
        String rain = family.makeRain(
                "New Year's Eve", new JsonObject().put("durationSeconds", 60).put("catchesPerUser", 2));
        page.see("dialog.rain[open] .sky[data-phase]");
        look(page, "rain that is announced", "dialog");
        page.see(".drop[data-state=falling]");
        look(page, "rain", "dialog");
        family.cancelRain(rain);
        page.see(".rain-result");
        look(page, "rain that is over", "dialog");
        page.press(Keys.ESCAPE);
        page.seeNo("dialog");
        look(page, "group after a rain", ".timeline");
    }

    @Test
    void theWheel() {
        Browser page = mei.browser();
        mei.enter(home.base, "demo-jun");
        page.click(".to-wheel");
        page.see("[data-spin='10']");
        look(page, "wheel");
        page.click("[data-spin='10']");
        page.see(".wheel-result[data-result='10']");
        page.see(".stage.still");
        look(page, "wheel after ten spins");
    }

    @Test
    void theOperatorsPages() {
        Browser page = mei.browser();
        page.openAfresh(home.management().toString(), "");
        page.see("[data-do=enter]");
        look(page, "console's overview, of who has no token");
        page.click("[data-do=enter]");
        page.see("#token");
        look(page, "console's door");
        page.paste("#token", family.hostToken());
        page.press(Keys.ENTER);
        page.see("[data-user=backend]");
        List<?> views = (List<?>)
                page.js("return [...document.querySelectorAll('[data-view]')].map(each => each.dataset.view)");
        assertThat(views).hasSizeGreaterThan(5);
        for (Object view : views) {
            page.click("[data-view=" + view + "]");
            page.see("[data-view=" + view + "][aria-current]");
            page.see("main h1");
            page.seeTrue("return ![...document.querySelectorAll('[data-panel] [role=status]')]"
                    + ".some(each => each.textContent === 'One moment …')");
            page.js(LIKE_ANOTHER);
            look(page, "console, " + view, "main");
        }
        page.js("location.hash = '#/users/demo-mei'");
        page.see("[data-panel=balances] [data-do=deposit]");
        look(page, "console, a user", "main");
        page.click("[data-panel=balances] [data-do=deposit]");
        page.see("dialog [data-action=deposit]");
        look(page, "console, deposit", "dialog");
    }

    @Test
    void theCalls() {
        Browser page = mei.browser();
        page.open(home.base + "/docs");
        page.see(".opblock");
        page.js(LIKE_ANOTHER);
        look(page, "calls");
        for (String verb : List.of("get", "post")) {
            page.click(".opblock-" + verb + " .opblock-summary-control");
            page.see(".opblock-" + verb + ".is-open .execute");
        }
        page.js(LIKE_ANOTHER);
        lookInside(page, "open calls", ".opblock.is-open");
        page.click(".btn.authorize");
        page.see(".auth-container input");
        lookInside(page, "key for the calls", ".dialog-ux");
    }

    @Test
    void theGuide() {
        Browser page = mei.browser();
        page.open(home.base + "/docs/guide/");
        page.see("main h1");
        look(page, "guide");
        page.js(CHAPTERS, GuidePages.PAGES);
        assertThat(page.count(".chapter h1")).isEqualTo(GuidePages.PAGES.size());
        use(page, Screen.PHONE);
        axe(page, "guide, all chapters", "main", TAGS, CONTRAST);
        note("guide, all chapters", page.js(WIDE));
        page.js(FIRST_OF_A_KIND, List.of(), "main");
        page.js(FIRST_ALONE);
        look(page, "guide, one text of each kind", "main");
        page.type("#query", "claim");
        page.see("[role=search] li a");
        look(page, "guide, search", "[role=search]");
    }
}
