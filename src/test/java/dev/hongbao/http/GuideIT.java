package dev.hongbao.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The guide as a browser gets it: what the build rendered, over real HTTP. */
class GuideIT {
    private static FaceServer server;

    @BeforeAll
    static void start() throws Exception {
        server = new FaceServer();
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
    }

    @Test
    void everyPageAndPictureIsServed() throws Exception {
        for (String file : files()) {
            HttpResponse<String> answer = get("/docs/guide/" + file);
            assertThat(answer.statusCode()).as(file).isEqualTo(200);
            assertThat(answer.headers().firstValue("Content-Type").orElseThrow())
                    .isEqualTo(file.endsWith(".svg") ? "image/svg+xml" : "text/html; charset=utf-8");
        }
        assertThat(get("/docs/guide").headers().firstValue("Location")).contains("guide/");
        assertThat(get("/docs/").headers().firstValue("Location")).contains("../docs");
        assertThat(get("/docs/guide/nothing.html").statusCode()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/docs/guide/operating.html",
                "/openapi.yaml",
                "/asyncapi.yaml",
                "/docs/swagger-ui-bundle.js"
            })
    void filesAreCompressedForWhoAcceptsIt(String path) throws Exception {
        // When
        HttpResponse<byte[]> plain = getBytes(path, "br, gzip;q=0", "");
        HttpResponse<byte[]> zipped = getBytes(path, "br, gzip;q=0.5", "");

        // Then it is the same file, smaller, and with a tag of its own
        assertThat(plain.headers().firstValue("Content-Encoding")).isEmpty();
        assertThat(zipped.headers().firstValue("Content-Encoding")).contains("gzip");
        assertThat(unzipped(zipped.body())).isEqualTo(plain.body());
        assertThat(zipped.body().length).isLessThan(plain.body().length);
        for (HttpResponse<byte[]> each : List.of(plain, zipped)) {
            assertThat(each.headers().allValues("Vary")).contains("Accept-Encoding");
        }
        String tag = zipped.headers().firstValue("ETag").orElseThrow();
        assertThat(plain.headers().firstValue("ETag")).isPresent().get().isNotEqualTo(tag);
        assertThat(getBytes(path, "gzip", tag).statusCode()).isEqualTo(304);
    }

    @Test
    void noAnswerOfACallIsCompressed() throws Exception {
        assertThat(getBytes("/v1/me/balances", "gzip", "").headers().firstValue("Content-Encoding"))
                .isEmpty();
        assertThat(getBytes("/docs/favicon-16x16.png", "gzip", "").statusCode()).isEqualTo(200);
    }

    private static HttpResponse<byte[]> getBytes(String path, String accepted, String held) throws Exception {
        HttpRequest.Builder request = server.request(path, "alice").header("Accept-Encoding", accepted);
        if (!held.isEmpty()) {
            request.header("If-None-Match", held);
        }
        return HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofByteArray());
    }

    private static byte[] unzipped(byte[] bytes) throws IOException {
        return new GZIPInputStream(new ByteArrayInputStream(bytes)).readAllBytes();
    }

    private static List<String> files() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("src/site/markdown"))) {
            return files.map(file -> file.getFileName().toString().replace(".md", ".html"))
                    .map(file -> file.replace("index.html", ""))
                    .sorted()
                    .toList();
        }
    }

    private static HttpResponse<String> get(String path) throws Exception {
        return server.send("GET", path, "");
    }
}
