package dev.hongbao.web.page;

import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One page's fixed set of files below {@code webroot/}, each under a fixed path, read from the jar when first asked for. No
 * path of a request ever becomes the name of a file. Safe on any thread; the first look at a file blocks for about 1 ms.
 */
public final class PageFiles {
    /** Scripts, styles and calls of this origin only, nothing inline; {@code 'self'} is the socket's origin too. */
    public static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private static final String ROOT = "webroot/";

    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "svg", "image/svg+xml",
            "txt", "text/plain; charset=utf-8");

    /** The chat page, by path; all but the first are found where they stand. */
    private static final List<String> CHAT = List.of(
            "hongbao-client.js",
            "icon.svg",
            "app/account.js",
            "app/api.js",
            "app/compose.js",
            "app/detail.js",
            "app/dialog.js",
            "app/faces.js",
            "app/format.js",
            "app/gate.js",
            "app/main.js",
            "app/opening.js",
            "app/packet.js",
            "app/prefs.js",
            "app/room.js",
            "app/rules.js",
            "app/texts-en.js",
            "app/texts-zh.js",
            "app/texts.js",
            "app/time.js",
            "app/timeline.js",
            "app/ui.js",
            "app/wheel-face.js",
            "app/wheel.js",
            "style/account.css",
            "style/base.css",
            "style/chat.css",
            "style/envelope.css",
            "style/form.css",
            "style/gate.css",
            "style/guide.css",
            "style/wheel.css",
            "vendor/preact-htm.js",
            "vendor/LICENSES.txt");

    /** The guide; the build makes its pages from {@code src/site/markdown}. */
    private static final List<String> GUIDE = List.of(
            "docs/guide/architecture.html",
            "docs/guide/benchmarks.html",
            "docs/guide/changes.html",
            "docs/guide/contributing.html",
            "docs/guide/decisions.html",
            "docs/guide/glossary.html",
            "docs/guide/guarantees.html",
            "docs/guide/operating.html",
            "docs/guide/options.html",
            "docs/guide/claim.svg",
            "docs/guide/layers.svg",
            "docs/guide/play.svg",
            "docs/guide/recovery.svg",
            "docs/guide/send.svg");

    private static final List<String> OPERATOR = List.of(
            "icon.svg",
            "operator/numbers.js",
            "operator/operator.css",
            "operator/operator.js",
            "operator/plots.js",
            "vendor/uplot.css",
            "vendor/uplot.js",
            "vendor/LICENSES.txt");

    /**
     * A file as it is served.
     *
     * @param type the content type
     */
    public record PageFile(String type, Buffer bytes) {}

    /** By path, with a leading slash: the name below the root. */
    private final Map<String, String> names;

    private final Map<String, PageFile> loaded = new ConcurrentHashMap<>();

    private PageFiles(String path, String start, List<String> files) {
        this.names = files.stream().collect(Collectors.toMap(file -> "/" + file, Function.identity()));
        names.put(path, start);
    }

    /** The page at {@code /} of the API's port. */
    public static PageFiles chat() {
        return new PageFiles("/", "index.html", CHAT);
    }

    /** The page at {@code /} of the management port. */
    public static PageFiles operator() {
        return new PageFiles("/", "operator/index.html", OPERATOR);
    }

    /** The guide at {@code /docs/guide/} of the API's port. */
    public static PageFiles guide() {
        PageFiles guide = new PageFiles("/docs/guide/", "docs/guide/index.html", GUIDE);
        guide.names.put("/docs/guide", "docs/guide/index.html");
        return guide;
    }

    /** Every path that {@link #find} knows. */
    public Iterable<String> paths() {
        return List.copyOf(names.keySet());
    }

    /** The file at a path; null for none. */
    public @Nullable PageFile find(String path) {
        String name = names.get(path);
        return name == null ? null : loaded.computeIfAbsent(name, PageFiles::read);
    }

    private static PageFile read(String name) {
        String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
        try (InputStream in = PageFiles.class.getClassLoader().getResourceAsStream(ROOT + name)) {
            if (in == null || type == null) {
                throw new IllegalStateException(ROOT + name + " is missing in this jar");
            }
            return new PageFile(type, Buffer.buffer(in.readAllBytes()));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
