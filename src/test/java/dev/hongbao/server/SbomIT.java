package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.hongbao.testing.ServerProcess;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each jar's list of what is in it, beside what is in it. */
class SbomIT {
    /** What many libraries have, or none that runs. */
    private static final Pattern NOT_ITS_OWN = Pattern.compile(
            "META-INF/(?!resources/|native/).*|(.*/)?module-info\\.class|[^/]*\\.(?:txt|md|html|properties)|[^/]*(?i:license|notice)[^/]*");

    /** The build packs them anew. */
    private static final Map<String, String> REPACKED = Map.of(
            "postgres-linux-x86_64.txz", "postgres-linux-amd64.tar.gz",
            "postgres-linux-arm_64.txz", "postgres-linux-arm64.tar.gz");

    @ParameterizedTest
    @ValueSource(strings = {"hongbao", "hongbao-server"})
    void itListsTheLibrariesThatAreInItAndNoOther(String name) throws IOException {
        // Given
        Path jar = ServerProcess.JAR.resolveSibling(name + ".jar");
        Set<String> entries;
        JsonObject list;
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            entries = zip.stream().map(ZipEntry::getName).collect(Collectors.toSet());
            Set<String> lists = entries.stream()
                    .filter(each -> each.matches("META-INF/sbom/.+"))
                    .collect(Collectors.toSet());
            assumeTrue(!lists.isEmpty(), "Maven was offline when it made the jar: it has no list");
            String file = "META-INF/sbom/" + name + ".cdx.json";
            assertThat(lists).containsExactly(file);
            list = new JsonObject(
                    new String(zip.getInputStream(zip.getEntry(file)).readAllBytes(), StandardCharsets.UTF_8));
        }

        // When each library of the build is looked for, those of the tests too
        Set<String> found = new TreeSet<>();
        for (URL manifest : Collections.list(SbomIT.class.getClassLoader().getResources("META-INF/MANIFEST.MF"))) {
            if (manifest.openConnection() instanceof JarURLConnection library
                    && isIn(Path.of(library.getJarFile().getName()), entries)) {
                found.add(Path.of(library.getJarFile().getName()).getFileName().toString());
            }
        }

        // Then
        Set<String> listed = new TreeSet<>();
        Set<String> refs = new HashSet<>();
        list.getJsonArray("components").stream().map(JsonObject.class::cast).forEach(library -> {
            String purl = library.getString("purl");
            String classifier =
                    purl.contains("classifier=") ? "-" + purl.replaceFirst(".*classifier=([^&]+).*", "$1") : "";
            listed.add(library.getString("name") + "-" + library.getString("version") + classifier + ".jar");
            refs.add(library.getString("bom-ref"));
            assertThat(library.getJsonArray("hashes")).as(purl).isNotEmpty();
            assertThat(library.getJsonArray("licenses")).as(purl).isNotEmpty();
        });
        assertThat(listed).isEqualTo(found);
        JsonObject itself = list.getJsonObject("metadata").getJsonObject("component");
        assertThat(itself.getString("name")).isEqualTo(name);
        refs.add(itself.getString("bom-ref"));
        assertThat(list.getJsonArray("dependencies"))
                .allMatch(each -> refs.contains(((JsonObject) each).getString("ref"))
                        && refs.containsAll(
                                ((JsonObject) each).getJsonArray("dependsOn").getList()));
    }

    private static boolean isIn(Path library, Set<String> entries) throws IOException {
        try (ZipFile zip = new ZipFile(library.toFile())) {
            return zip.stream()
                    .map(ZipEntry::getName)
                    .filter(entry ->
                            !entry.endsWith("/") && !NOT_ITS_OWN.matcher(entry).matches())
                    .anyMatch(entry -> entries.contains(REPACKED.getOrDefault(entry, entry)));
        }
    }
}
