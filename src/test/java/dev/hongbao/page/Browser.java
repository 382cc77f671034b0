package dev.hongbao.page;

import io.vertx.core.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.NotFoundException;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebDriverException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.WindowType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** One person's window of Chromium, whose page knows only what its own tab keeps. */
final class Browser {
    /** A name that leads here, as an attacker's name server would have it. */
    static final String REBOUND = "rebound.example";

    /** The address of {@code localhost} in this browser: beside the server, so that a test can stand between. */
    static final String BESIDE = "127.0.0.2";

    private static final Duration WAIT = Duration.ofSeconds(60);
    private static final long AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

    /** Ends as soon as a condition holds in the page, or after half a second. A look from outside costs both processes ten times as much. */
    private static final String WAIT_IN_PAGE = """
            const done = arguments[arguments.length - 1];
            const holds = () => { %s };
            const late = performance.now() + 500;
            const look = () => {
              let isOver = true;
              try {
                isOver = holds() || performance.now() > late;
              } catch {
                // the look from outside tells of it
              }
              if (isOver) done(); else setTimeout(look, 20);
            };
            look();
            """;

    private static final String VISIBLE =
            "const each = document.querySelector(arguments[0]); return each && each.getClientRects().length > 0";

    /** Given by {@code -Dscreenshots=target/screenshots}; none are taken otherwise, since each takes longer than what it shows. */
    private static final @Nullable String SCREENSHOTS = System.getProperty("screenshots");

    private static final List<String> FLAGS = List.of(
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--in-process-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            // A renderer in reserve, and pages that are kept to go back to: a third of what a page costs.
            "--disable-features=BackForwardCache,SpareRendererForSitePerProcess",
            "--ignore-certificate-errors", // of pictures from a test's own server
            "--host-resolver-rules=MAP " + REBOUND + " 127.0.0.1, MAP localhost " + BESIDE);

    /** As nothing else is said: in the light, and still, since a coin that glows costs a core without a graphics card. */
    private static final Map<String, String> STILL_AND_LIGHT =
            Map.of("prefers-color-scheme", "light", "prefers-reduced-motion", "reduce");

    /** By person. */
    private static final Map<String, Browser> OPEN = new HashMap<>();

    /** Of all persons, while it runs. */
    private static @Nullable ChromeDriver chromium;

    /** The window that commands go to. */
    private static String current = "";

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Browser::closeAll));
    }

    private final String window;

    private final Map<String, String> media = new HashMap<>();

    private final int width;
    private final int height;
    private boolean isUsed;

    private Browser(String window, int width, int height) {
        this.window = window;
        this.width = width;
        this.height = height;
    }

    /**
     * A person's, which stays open for all classes of this JVM; on no page. When Chromium is not installed, fails in CI,
     * where skipped tests would look like passed ones; elsewhere the test is skipped and says so, since a JDK is all that
     * the tests may ask for.
     *
     * @param width of the window, CSS pixels
     */
    static Browser of(String person, int width, int height) {
        return OPEN.computeIfAbsent(person, each -> start(width, height));
    }

    static void closeAll() {
        OPEN.clear();
        if (chromium != null) {
            try {
                chromium.quit();
            } catch (WebDriverException gone) {
                // it crashed, or its driver did
            }
            chromium = null;
        }
    }

    private static Browser start(int width, int height) {
        if (chromium == null) {
            chromium = start();
        } else {
            chromium.switchTo().newWindow(WindowType.WINDOW);
        }
        current = chromium.getWindowHandle();
        Browser browser = new Browser(current, width, height);
        // Of several windows only one has the focus.
        chromium.executeCdpCommand("Emulation.setFocusEmulationEnabled", Map.of("enabled", true));
        browser.isUsed = true;
        browser.leave();
        return browser;
    }

    private static ChromeDriver start() {
        Path binary = installed("/usr/bin/chromium", "/usr/bin/google-chrome");
        Path chromedriver = installed("/usr/bin/chromedriver");
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        ChromeOptions options = new ChromeOptions();
        options.setBinary(binary.toString());
        options.addArguments(FLAGS);
        options.setScriptTimeout(WAIT);
        options.setCapability("goog:loggingPrefs", logs);
        ChromeDriverService service = new ChromeDriverService.Builder()
                .usingDriverExecutable(chromedriver.toFile())
                .usingAnyFreePort()
                .build();
        return new ChromeDriver(service, options);
    }

    private ChromeDriver driver() {
        ChromeDriver running = Objects.requireNonNull(chromium, "the browser is closed");
        if (!current.equals(window)) {
            running.switchTo().window(window);
            current = window;
        }
        return running;
    }

    /** Leaves the page, with its sockets and timers. The next one is shown as if nothing had been said about the window. */
    void leave() {
        if (!isUsed) {
            return;
        }
        driver().get("about:blank");
        resize(width, height, 1);
        media.clear();
        media.putAll(STILL_AND_LIGHT);
        emulateMedia();
        isUsed = false;
    }

    /** Whether a page was opened since it was left. */
    boolean isUsed() {
        return isUsed;
    }

    private static Path installed(String... places) {
        for (String place : places) {
            if (Files.isExecutable(Path.of(place))) {
                return Path.of(place);
            }
        }
        String missing = "The page's tests need a browser, and " + places[0] + " is not there. On Debian:"
                + " apt-get install chromium chromium-driver fonts-wqy-microhei";
        if (Boolean.parseBoolean(System.getenv("CI"))) {
            throw new AssertionError(missing);
        }
        System.err.println("SKIPPED: " + missing);
        return Assumptions.abort(missing);
    }

    /** From now on files that a page has saved go to a directory, without a question. */
    void saveTo(Path directory) {
        driver().executeCdpCommand(
                        "Browser.setDownloadBehavior",
                        Map.of(
                                "behavior",
                                "allow",
                                "downloadPath",
                                directory.toAbsolutePath().toString()));
    }

    /** @param scale device pixels per CSS pixel */
    void resize(int width, int height, int scale) {
        driver().executeCdpCommand(
                        "Emulation.setDeviceMetricsOverride",
                        Map.of("width", width, "height", height, "deviceScaleFactor", scale, "mobile", false));
    }

    /** A media feature as the visitor has it: {@code prefers-color-scheme: dark}. */
    void emulate(String feature, String value) {
        media.put(feature, value);
        emulateMedia();
    }

    private void emulateMedia() {
        List<Map<String, String>> features = media.entrySet().stream()
                .map(each -> Map.of("name", each.getKey(), "value", each.getValue()))
                .toList();
        driver().executeCdpCommand("Emulation.setEmulatedMedia", Map.of("features", features));
    }

    /** Things move for this person from the next page on, as they do for most. */
    void move() {
        emulate("prefers-reduced-motion", "no-preference");
    }

    /** Makes this person's clock wrong, from the next page on. @return undoes it */
    Runnable setClockAhead(Duration by) {
        return before("const now = Date.now; Date.now = () => now() + " + by.toMillis());
    }

    /** Runs a script before each page's own ones. @return undoes it */
    private Runnable before(String script) {
        Object id = driver().executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", Map.of("source", script))
                .get("identifier");
        return () -> driver().executeCdpCommand("Page.removeScriptToEvaluateOnNewDocument", Map.of("identifier", id));
    }

    void open(String url) {
        isUsed = true;
        driver().get(url);
    }

    /** Opens a page in English, as somebody of whom this browser remembers nothing. @param script runs before the page's own */
    void openAfresh(String url, String script) {
        Runnable undo = before("sessionStorage.clear(); localStorage.setItem('hongbao.language', 'en'); " + script);
        try {
            open(url);
        } finally {
            undo.run();
        }
    }

    /** Returns when another document is there: what is clicked on the old one, while it still stands, is lost with it. */
    void reload() {
        js("window.isOld = true");
        driver().navigate().refresh();
        seeTrue("return window.isOld === undefined");
    }

    /** Waits until a look from outside sees something. @param hint a condition in the page, without which there is nothing to see */
    private <T> T until(String what, String hint, List<?> arguments, Supplier<@Nullable T> look) {
        long end = System.nanoTime() + WAIT.toNanos();
        while (true) {
            try {
                driver().executeAsyncScript(WAIT_IN_PAGE.formatted(hint), arguments.toArray());
            } catch (WebDriverException left) {
                // for another page; or the look from outside tells what is wrong
            }
            try {
                T seen = look.get();
                if (seen != null) {
                    return seen;
                }
            } catch (NotFoundException | StaleElementReferenceException notYet) {
                // it is on its way
            }
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("not within " + WAIT + ": " + what + "; the page: "
                        + driver().executeScript("return document.body.outerHTML.slice(0, 3000)"));
            }
            LockSupport.parkNanos(AGAIN_NANOS);
        }
    }

    /** The first element that matches, once it is visible. */
    WebElement see(String css) {
        return until(css, VISIBLE, List.of(css), () -> {
            WebElement found = driver().findElement(By.cssSelector(css));
            return found.isDisplayed() ? found : null;
        });
    }

    void seeText(String css, String text) {
        String hint = "return document.querySelector(arguments[0])?.innerText.includes(arguments[1])";
        until(css + " with " + text, hint, List.of(css, text), () -> {
            WebElement found = driver().findElement(By.cssSelector(css));
            return found.getText().contains(text) ? found : null;
        });
    }

    void seeNo(String css) {
        seeTrue("return document.querySelector(" + Json.encode(css) + ") === null");
    }

    /** Waits until a script says true. */
    void seeTrue(String script) {
        until(script, script, List.of(), () -> Boolean.TRUE.equals(js(script)) ? true : null);
    }

    int count(String css) {
        return driver().findElements(By.cssSelector(css)).size();
    }

    void click(String css) {
        until(css, VISIBLE + " && !each.disabled", List.of(css), () -> {
                    WebElement found = driver().findElement(By.cssSelector(css));
                    return found.isDisplayed() && found.isEnabled() ? found : null;
                })
                .click();
    }

    void type(String css, String text) {
        WebElement field = see(css);
        field.sendKeys(Keys.chord(Keys.CONTROL, "a"), Keys.DELETE, text);
    }

    /** Puts a text into a field, or chooses a value, at once: key by key a long one takes a second. */
    void paste(String css, String text) {
        see(css);
        js(
                "const field = document.querySelector(arguments[0]); field.focus(); field.value = arguments[1];"
                        + " field.dispatchEvent(new Event('input', { bubbles: true }))",
                css,
                text);
    }

    /** Presses a key wherever the focus is. */
    void press(Keys key) {
        new Actions(driver()).sendKeys(key).perform();
    }

    WebElement focused() {
        return driver().switchTo().activeElement();
    }

    /** @param arguments of the script, of types that JSON has */
    Object js(String script, Object... arguments) {
        return driver().executeScript(script, arguments);
    }

    /** The page's warnings and errors in its console since the last look. */
    List<String> complaints() {
        return driver().manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(LogEntry::getMessage)
                .toList();
    }

    /** A picture of the page, for who looks through all of them. */
    void screenshot(String name) {
        if (SCREENSHOTS == null) {
            return;
        }
        try {
            Path directory = Files.createDirectories(Path.of(SCREENSHOTS));
            Object picture = driver().executeCdpCommand("Page.captureScreenshot", Map.of("optimizeForSpeed", true))
                    .get("data");
            Files.write(directory.resolve(name + ".png"), Base64.getDecoder().decode(picture.toString()));
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }
}
