package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.hongbao.testing.ServerProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The archive of classes that the build makes for the README's start, and the one that the container image is built with. The image's
 * JVM is a later one than the oldest that the jar runs on, which has archives of classes by other flags: {@code operating} tells of both.
 */
class ClassArchiveIT {
    private static final int FIRST_WITH_CACHE = 25;

    @TempDir
    private Path directory;

    @Test
    void theReadmesStartMapsWhatTheBuildWrote() throws Exception {
        // Given
        assumeTrue(
                ServerProcess.JAR
                        .toUri()
                        .getRawPath()
                        .equals(ServerProcess.JAR.toAbsolutePath().toString()),
                "this JVM maps no class of a jar whose path a URL writes otherwise");
        String archive = only(
                Files.readString(Path.of("README.md")), "java (-XX:SharedArchiveFile=\\S+) -jar target/hongbao\\.jar");

        // When
        String loaded = run(java(List.of(archive, "-Xlog:class+load"), ServerProcess.JAR, "--version"));

        // Then
        assertThat(loaded).containsPattern("dev\\.hongbao\\.Main source: shared objects file");
    }

    @Test
    @Tag("long")
    void theJarsClassesComeFromTheArchive() throws Exception {
        // Given what the image's build runs
        String image = Files.readString(Path.of("docker/Dockerfile"));
        String packets = only(image, "hongbao\\.jar demo --packets (\\d+)");
        boolean caches = Runtime.version().feature() >= FIRST_WITH_CACHE;
        String archive = directory.resolve("archive").toString();
        List<String> learning = caches
                ? List.of("-XX:AOTCacheOutput=" + archive, "-Xlog:aot=error")
                : List.of("-XX:ArchiveClassesAtExit=" + archive, "-Xlog:cds=off");
        List<String> using = caches
                ? List.of("-XX:AOTCache=" + archive, "-XX:AOTMode=on", "-Xlog:class+load")
                : List.of("-XX:SharedArchiveFile=" + archive, "-Xshare:on", "-Xlog:class+load");

        // When
        String said = run(java(
                List.of(),
                ServerProcess.JAR,
                "demo",
                "--packets",
                packets,
                "--server",
                String.join(" ", java(learning, ServerProcess.SERVER_JAR))));
        String loaded = run(java(using, ServerProcess.SERVER_JAR, "--version"));

        // Then
        assertThat(said).contains("Every cent is where it belongs.");
        assertThat(loaded).containsPattern("dev\\.hongbao\\.Main source: shared objects file");
    }

    @Test
    void theImagesServerReadsWhatItsBuildWrote() throws Exception {
        // Given
        String image = Files.readString(Path.of("docker/Dockerfile"));

        // Then
        assertThat(only(image, "\"-XX:AOTCache=([^\"]+)\"")).isEqualTo(only(image, "-XX:AOTCacheOutput=(\\S+)"));
        assertThat(Integer.parseInt(only(image, "FROM eclipse-temurin:(\\d+)-jre")))
                .isGreaterThanOrEqualTo(FIRST_WITH_CACHE);
    }

    private static String only(String text, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        assertThat(matcher.find()).as(pattern).isTrue();
        return matcher.group(1);
    }

    private static List<String> java(List<String> flags, Path jar, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        command.addAll(List.of("-jar", jar.toString()));
        command.addAll(List.of(arguments));
        return command;
    }

    private static String run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }
}
