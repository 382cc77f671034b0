package dev.hongbao.web.http;

import dev.hongbao.web.api.Contract;
import dev.hongbao.web.api.Frames;
import dev.hongbao.web.page.PageFiles;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What is served to browsers: the chat page, the guide, the contract, and Swagger UI from its webjar. A fixed set of files under fixed
 * paths, read when first asked for, so that a start does not wait for 1.5 MB of script. Safe on any thread.
 */
public final class Documents {
    /** Swagger UI sets styles on elements and shows images of its own; nothing comes from another host. */
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
            + "img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'none'";

    private static final String DOCS = "/docs/";
    private static final String GUIDE = "/docs/guide";
    private static final Map<String, String> SWAGGER_FILES = Map.of(
            "swagger-ui.css", "text/css; charset=utf-8",
            "swagger-ui-bundle.js", "text/javascript; charset=utf-8",
            "favicon-32x32.png", "image/png",
            "favicon-16x16.png", "image/png");

    private static final String PAGE = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Hongbao: the calls</title>
            <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
            <link rel="stylesheet" href="/docs/swagger-ui.css">
            </head>
            <body>
            <div id="swagger-ui"></div>
            <script src="/docs/swagger-ui-bundle.js"></script>
            <script src="/docs/start.js"></script>
            </body>
            </html>
            """;
    private static final String START = """
            window.ui = SwaggerUIBundle({
              url: '/openapi.yaml',
              dom_id: '#swagger-ui',
              deepLinking: true,
              tryItOutEnabled: true,
              validatorUrl: null
            });
            """;

    private final PageFiles chat = PageFiles.chat();
    private final PageFiles guide = PageFiles.guide();
    private final Map<String, Reply> ready;
    private final Map<String, Reply> loaded = new ConcurrentHashMap<>();

    public Documents(Contract contract, Frames frames) {
        Map<String, Reply> replies = new HashMap<>();
        replies.put("/openapi.yaml", document("application/yaml; charset=utf-8", bytes(contract.text())));
        replies.put("/asyncapi.yaml", document("application/yaml; charset=utf-8", bytes(frames.text())));
        replies.put("/docs", document("text/html; charset=utf-8", bytes(PAGE)));
        replies.put("/docs/start.js", document("text/javascript; charset=utf-8", bytes(START)));
        replies.put(DOCS, new Reply(308, "", Buffer.buffer(), List.of("Location", "/docs")));
        this.ready = Map.copyOf(replies);
    }

    /** The document at a path; null for none. The first call for a file reads it from the jar. */
    @Nullable
    Reply find(String path) {
        Reply reply = ready.get(path);
        if (reply != null) {
            return reply;
        }
        if (!path.startsWith(DOCS) || path.startsWith(GUIDE)) {
            reply = loaded.get(path);
            return reply != null ? reply : page(path);
        }
        String file = path.substring(DOCS.length());
        String type = SWAGGER_FILES.get(file);
        return type == null ? null : loaded.computeIfAbsent(file, name -> document(type, swaggerFile(name)));
    }

    private @Nullable Reply page(String path) {
        PageFiles.PageFile file = (path.startsWith(GUIDE) ? guide : chat).find(path);
        if (file == null) {
            return null;
        }
        Reply reply = document(file.type(), file.bytes().getBytes(), PageFiles.POLICY);
        loaded.put(path, reply);
        return reply;
    }

    /** The same document, or 304 when the browser holds it. */
    Reply conditional(Reply document, HttpServerRequest request) {
        return EntityTags.isHeld(document, request.headers().getAll(HttpHeaders.IF_NONE_MATCH))
                ? new Reply(304, "", Buffer.buffer(), document.headers())
                : document;
    }

    private static Reply document(String type, byte[] bytes) {
        return document(type, bytes, POLICY);
    }

    private static Reply document(String type, byte[] bytes, String policy) {
        return new Reply(
                200,
                type,
                Buffer.buffer(bytes),
                List.of(
                        "ETag",
                        EntityTags.tag(bytes),
                        "Cache-Control",
                        "no-cache",
                        "Content-Security-Policy",
                        policy,
                        "Referrer-Policy",
                        "no-referrer"));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] swaggerFile(String name) {
        String version = swaggerVersion();
        return resource("META-INF/resources/webjars/swagger-ui/" + version + "/" + name);
    }

    private static String swaggerVersion() {
        Properties properties = new Properties();
        try {
            properties.load(new ByteArrayInputStream(resource("META-INF/maven/org.webjars/swagger-ui/pom.properties")));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        return properties.getProperty("version");
    }

    private static byte[] resource(String path) {
        try (InputStream in = Documents.class.getClassLoader().getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalStateException(path + " is missing in this jar");
            }
            return in.readAllBytes();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
