package dev.hongbao.http;

import dev.hongbao.values.Sha256;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The files that one port serves to browsers, read from the jar when first asked for. Thread-safe; the first look at a file
 * blocks for about 1 ms.
 *
 * <p>Not Vert.x Web's StaticHandler, for three reasons. It has no entity tags but the time of unpacking, which differs per start
 * and server. It unpacks into a temporary directory, which a clean-up job may empty. It searches the working directory's
 * {@code webroot/} first.
 */
public final class PageFiles {
    private static final String ROOT = "webroot/";

    /** A file by its whole name in one of the folders. */
    private static final Pattern IN_FOLDER = Pattern.compile("(/(?:[a-z]+/){1,2})[A-Za-z0-9-]+\\.[a-z]+");

    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "svg", "image/svg+xml",
            "png", "image/png",
            "yaml", "application/yaml; charset=utf-8",
            "ts", "text/plain; charset=utf-8",
            "json", "application/json",
            "txt", "text/plain; charset=utf-8");

    /** Scripts, styles and calls of this origin only, nothing inline; {@code 'self'} is the socket's origin too. */
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    /** The page that also shows users' pictures, from the origins that the operator allows; its script reads them in the page. */
    private static final String CHAT_PAGE = ROOT + "index.html";

    private static final String ORIGINS_IN_PAGE = "<meta name=\"images\" content=\"\">";

    /** Swagger UI sets styles on elements and shows images of its own. */
    private static final String SWAGGER_PAGE = ROOT + "docs/index.html";

    private static final String CONSOLE_PAGE = ROOT + "console/index.html";

    private static final String SWAGGER_POLICY = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
            .replace("img-src 'self'", "img-src 'self' data:; font-src 'self'");

    /** By path: the name in the jar. */
    private final Map<String, String> files;

    private final Set<String> folders;

    /** Origins from which the chat page may load pictures, separated by spaces; empty for none. */
    private final String images;

    /** A further origin that the console may call; empty for none. */
    private final String provider;

    private final Map<String, PageFile> loaded = new ConcurrentHashMap<>();

    /**
     * A served file.
     *
     * @param type the content type
     * @param tag the strong entity tag: a digest of these bytes
     * @param policy the Content-Security-Policy
     * @param zipped the same compressed, with a tag of its own; null for a file that is compressed already, or does not get
     *     smaller
     */
    public record PageFile(
            String type,
            Buffer bytes,
            String tag,
            String policy,
            @Nullable PageFile zipped) {
        /** Bytes of the digest: 96 bits distinguish versions of one file. */
        private static final int TAG_BYTES = 12;

        /** A copy whose scripts may also call this origin; empty for none. */
        public PageFile mayCall(String origin) {
            return origin.isEmpty() || policy.contains("connect-src 'self' " + origin + ";")
                    ? this
                    : new PageFile(
                            type,
                            bytes,
                            tag,
                            policy.replace("connect-src 'self'", "connect-src 'self' " + origin),
                            zipped == null ? null : zipped.mayCall(origin));
        }

        private static PageFile of(String type, Buffer bytes, String policy) {
            Buffer small = Gzip.of(bytes);
            PageFile zipped =
                    small.length() < bytes.length() ? new PageFile(type, small, tag(small), policy, null) : null;
            return new PageFile(type, bytes, tag(bytes), policy, zipped);
        }

        /** The answer with the form of the file that a client accepts. @param accepted its Accept-Encoding; null for none */
        public Reply reply(@Nullable String accepted) {
            if (zipped != null && Gzip.isAccepted(accepted)) {
                return zipped.reply(Gzip.HEADERS);
            }
            return reply(zipped == null ? List.of() : List.of("Vary", "Accept-Encoding"));
        }

        private Reply reply(List<String> more) {
            List<String> headers = new ArrayList<>(List.of(
                    "Cache-Control", "no-cache", "Content-Security-Policy", policy, "Referrer-Policy", "no-referrer"));
            headers.addAll(more);
            return new Reply(200, type, bytes, headers, tag, null);
        }

        /** The strong entity tag of these bytes. */
        public static String tag(Buffer bytes) {
            byte[] digest = Arrays.copyOf(Sha256.of(bytes.getBytes()), TAG_BYTES);
            return '"' + Base64.getUrlEncoder().withoutPadding().encodeToString(digest) + '"';
        }
    }

    private PageFiles(Map<String, String> files, Set<String> folders, List<String> images, String provider) {
        this.files = Map.copyOf(files);
        this.folders = folders;
        this.images = String.join(" ", images);
        this.provider = provider;
    }

    /**
     * The files of the API's port: the chat page, the contracts, Swagger UI from its webjar, and the guide.
     *
     * @param images origins from which the chat page may load pictures
     */
    public static PageFiles chat(List<String> images) {
        Map<String, String> files = new HashMap<>();
        files.put("/", CHAT_PAGE);
        files.put("/icon.svg", ROOT + "icon.svg");
        files.put("/hongbao-client.js", ROOT + "hongbao-client.js");
        files.put("/hongbao-verify.js", ROOT + "hongbao-verify.js");
        files.put("/hongbao-client.d.ts", ROOT + "hongbao-client.d.ts");
        files.put("/hongbao-verify.d.ts", ROOT + "hongbao-verify.d.ts");
        files.put("/package.json", ROOT + "package.json");
        files.put("/openapi.yaml", "openapi.yaml");
        files.put("/asyncapi.yaml", "asyncapi.yaml");
        files.put("/docs", SWAGGER_PAGE);
        files.put("/docs/guide/", ROOT + "docs/guide/index.html");
        String swagger = "META-INF/resources/webjars/swagger-ui/" + swaggerVersion() + "/";
        for (String name :
                List.of("swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png", "favicon-16x16.png")) {
            files.put("/docs/" + name, swagger + name);
        }
        return new PageFiles(
                files, Set.of("/app/", "/style/", "/vendor/", "/docs/", "/docs/guide/", "/fairness/"), images, "");
    }

    /**
     * The files of the management port: the console, and the files that it shares with the chat page.
     *
     * @param provider signs operators in, and the console may call it; null for none
     */
    public static PageFiles console(@Nullable URI provider) {
        Map<String, String> files = new HashMap<>();
        files.put("/", CONSOLE_PAGE);
        for (String shared : List.of(
                "icon.svg",
                "style/base.css",
                "app/ui.js",
                "app/time.js",
                "app/api.js",
                "app/prefs.js",
                "app/wording.js")) {
            files.put("/" + shared, ROOT + shared);
        }
        return new PageFiles(
                files, Set.of("/console/", "/vendor/"), List.of(), provider == null ? "" : origin(provider));
    }

    private static String origin(URI url) {
        return url.getScheme() + "://" + url.getRawAuthority();
    }

    /** The file at a path; null for none. */
    public @Nullable PageFile find(String path) {
        PageFile file = loaded.get(path);
        if (file != null) {
            return file;
        }
        String name = nameOf(path);
        file = name == null ? null : read(name);
        if (file != null) {
            loaded.put(path, file);
        }
        return file;
    }

    /**
     * The redirect for a path that lacks its last slash or has one too many, because links in a page are relative. The redirect
     * is relative too, so it holds behind a proxy. Null if no page fits.
     */
    public @Nullable String moved(String path) {
        if (path.length() > 1 && path.endsWith("/")) {
            String page = path.substring(0, path.length() - 1);
            return find(page) == null ? null : "../" + page.substring(page.lastIndexOf('/') + 1);
        }
        return find(path + "/") == null ? null : path.substring(path.lastIndexOf('/') + 1) + "/";
    }

    private @Nullable String nameOf(String path) {
        String name = files.get(path);
        if (name != null) {
            return name;
        }
        Matcher match = IN_FOLDER.matcher(path);
        return match.matches() && folders.contains(match.group(1)) ? ROOT + path.substring(1) : null;
    }

    private @Nullable PageFile read(String name) {
        String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
        Buffer bytes = type == null ? null : bytes(name);
        if (type == null || bytes == null) {
            return null;
        }
        if (name.equals(CHAT_PAGE)) {
            bytes = Buffer.buffer(
                    bytes.toString().replace(ORIGINS_IN_PAGE, ORIGINS_IN_PAGE.replace("\"\"", '"' + images + '"')));
        }
        return PageFile.of(type, bytes, policy(name));
    }

    private static @Nullable Buffer bytes(String name) {
        try (InputStream in = PageFiles.class.getClassLoader().getResourceAsStream(name)) {
            return in == null ? null : Buffer.buffer(in.readAllBytes());
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private String policy(String name) {
        return switch (name) {
            case SWAGGER_PAGE -> SWAGGER_POLICY;
            case CHAT_PAGE -> POLICY.replace("img-src 'self'", ("img-src 'self' " + images).strip());
            case CONSOLE_PAGE -> POLICY.replace("connect-src 'self'", ("connect-src 'self' " + provider).strip());
            default -> POLICY;
        };
    }

    private static String swaggerVersion() {
        Properties properties = new Properties();
        try (InputStream in = PageFiles.class
                .getClassLoader()
                .getResourceAsStream("META-INF/maven/org.webjars/swagger-ui/pom.properties")) {
            properties.load(Objects.requireNonNull(in, "Swagger UI is missing in this jar"));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        return properties.getProperty("version");
    }
}
