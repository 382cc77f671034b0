package dev.hongbao.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archive of classes that the container image is built with, made from the jar as the image does. */
class ClassArchiveIT {
    private static final Path JAR = Path.of(System.getProperty("hongbao.jar", "target/hongbao.jar"));

    @TempDir
    private Path directory;

    @Test
    void theJarsClassesComeFromTheArchive() throws Exception {
        // Given what the image's build runs, and how its server starts
        String image = Files.readString(Path.of("docker/Dockerfile"));
        String made = only(image, "-XX:ArchiveClassesAtExit=(\\S+)");
        String used = only(image, "\"-XX:SharedArchiveFile=([^\"]+)\"");
        String training = only(image, "hongbao\\.jar (demo .*)");
        Path archive = directory.resolve("hongbao.jsa");

        // When
        String said = java("-XX:ArchiveClassesAtExit=" + archive, "-Xlog:cds=off", training);
        String loaded = java("-XX:SharedArchiveFile=" + archive, "-Xshare:on", "-Xlog:class+load", "--version");

        // Then
        assertThat(used).isEqualTo(made);
        assertThat(said).contains("Every cent is where it belongs.");
        assertThat(loaded).contains("dev.hongbao.Main source: shared objects file (top)");
    }

    private static String only(String text, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        assertThat(matcher.find()).as(pattern).isTrue();
        return matcher.group(1);
    }

    /** @param arguments the JVM's flags; the last is the program's, separated by spaces */
    private static String java(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(arguments).subList(0, arguments.length - 1));
        command.addAll(List.of("-jar", JAR.toString()));
        command.addAll(List.of(arguments[arguments.length - 1].split(" ", -1)));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }
}
