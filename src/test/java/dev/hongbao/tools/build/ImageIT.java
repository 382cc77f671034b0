package dev.hongbao.tools.build;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The image that {@code ./mvnw jib:buildTar} makes without an engine, on a base made here, since a registry of images need not be at hand.
 * {@code PackagingTest} compares how it is started with the other image.
 */
@Tag("long")
class ImageIT {
    private static final String JAR = "opt/hongbao/hongbao-server.jar";
    private static final String DATA = "var/lib/hongbao/data/";

    @TempDir
    private Path directory;

    /** A layer's entry, and a file's bytes. */
    private record Content(TarArchiveEntry entry, byte[] bytes) {}

    @Test
    void itHasTheServersJarAlone() throws Exception {
        // Given
        Path base = base();

        // When
        Path image = build(base, "first.tar");
        Path again = build(base, "second.tar");

        // Then two builds are the same bytes
        assertThat(image).hasSameBinaryContentAs(again);

        // Then it has the base's layer and these files
        Map<String, byte[]> archive = files(image);
        JsonObject manifest = new JsonArray(text(archive, "manifest.json")).getJsonObject(0);
        List<String> layers =
                manifest.getJsonArray("Layers").stream().map(String::valueOf).toList();
        Map<String, Content> added = new LinkedHashMap<>();
        for (String layer : layers.subList(1, layers.size())) {
            added.putAll(entries(new GZIPInputStream(new ByteArrayInputStream(archive.get(layer)))));
        }
        assertThat(added).containsOnlyKeys("opt/", "opt/hongbao/", JAR, "var/", "var/lib/", "var/lib/hongbao/", DATA);
        assertThat(added.get(JAR).bytes()).isEqualTo(Files.readAllBytes(Path.of("target/hongbao-server.jar")));
        assertThat(added.get(JAR).entry().getMode() & 0777).isEqualTo(0644);
        assertThat(added.get(DATA).entry().getMode() & 0777).isEqualTo(0777);
        assertThat(added.values()).allSatisfy(each -> {
            assertThat(each.entry().getLongUserId()).isZero();
            assertThat(each.entry().getLastModifiedTime().toMillis()).isEqualTo(1_000);
        });
    }

    private Path build(Path base, String name) throws IOException, InterruptedException {
        Path image = directory.resolve(name);
        Process process = new ProcessBuilder(
                        "./mvnw",
                        "-q",
                        "-B",
                        "-ntp",
                        "jib:buildTar",
                        "-Djib.from.image=tar://" + base,
                        "-Djib.outputPaths.tar=" + image)
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return image;
    }

    /** An image of one file, as {@code docker save} writes it. */
    private Path base() throws IOException, NoSuchAlgorithmException {
        byte[] layer = tar(Map.of("etc/base", "base"));
        String digest =
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(layer));
        JsonObject config = new JsonObject()
                .put("architecture", "amd64")
                .put("os", "linux")
                .put("config", new JsonObject().put("Env", new JsonArray().add("PATH=/usr/bin")))
                .put(
                        "rootfs",
                        new JsonObject()
                                .put("type", "layers")
                                .put("diff_ids", new JsonArray().add("sha256:" + digest)));
        JsonObject manifest = new JsonObject()
                .put("Config", "config.json")
                .put("RepoTags", new JsonArray().add("base:1"))
                .put("Layers", new JsonArray().add("layer.tar"));
        Map<String, Object> files = new LinkedHashMap<>();
        files.put("config.json", config.encode());
        files.put("layer.tar", layer);
        files.put("manifest.json", new JsonArray().add(manifest).encode());
        return Files.write(directory.resolve("base.tar"), tar(files));
    }

    /** @param files text or bytes by name */
    private static byte[] tar(Map<String, ?> files) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(bytes)) {
            for (Map.Entry<String, ?> file : files.entrySet()) {
                byte[] content = file.getValue() instanceof byte[] raw
                        ? raw
                        : file.getValue().toString().getBytes(StandardCharsets.UTF_8);
                TarArchiveEntry entry = new TarArchiveEntry(file.getKey());
                entry.setSize(content.length);
                tar.putArchiveEntry(entry);
                tar.write(content);
                tar.closeArchiveEntry();
            }
        }
        return bytes.toByteArray();
    }

    private static Map<String, byte[]> files(Path tar) throws IOException {
        Map<String, byte[]> found = new LinkedHashMap<>();
        try (InputStream in = Files.newInputStream(tar)) {
            entries(in).forEach((name, content) -> found.put(name, content.bytes()));
        }
        return found;
    }

    private static Map<String, Content> entries(InputStream in) throws IOException {
        Map<String, Content> found = new LinkedHashMap<>();
        TarArchiveInputStream tar = new TarArchiveInputStream(in);
        for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
            found.put(entry.getName(), new Content(entry, tar.readAllBytes()));
        }
        return found;
    }

    private static String text(Map<String, byte[]> files, String name) {
        return new String(files.get(name), StandardCharsets.UTF_8);
    }
}
