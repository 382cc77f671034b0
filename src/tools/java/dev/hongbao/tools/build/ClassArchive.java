package dev.hongbao.tools.build;

import dev.hongbao.tools.local.CommandServer;
import dev.hongbao.tools.local.Directories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the archive of the classes that a start of the jar loads, for {@code -XX:SharedArchiveFile}: a later start on the same JVM
 * maps them, instead of reading and checking each. One start on embedded stores chooses the classes. The archive fits this jar
 * and its place only; the JVM goes without one that does not fit.
 */
public final class ClassArchive {
    private static final Logger LOG = LoggerFactory.getLogger(ClassArchive.class);
    private static final Duration START_LIMIT = Duration.ofMinutes(2);

    private ClassArchive() {}

    /** @param args the jar, and the archive to write; where the jar does not start, there is none afterwards, and a line says why */
    public static void main(String[] args) throws IOException, InterruptedException {
        Path archive = Path.of(args[1]).toAbsolutePath();
        Files.deleteIfExists(archive);
        Path directory = Files.createTempDirectory("hongbao-archive");
        try {
            start(Path.of(args[0]).toAbsolutePath(), archive, directory);
        } catch (IOException fault) {
            LOG.warn("no archive of classes, so each start loads them one by one: {}", fault.getMessage());
        } finally {
            Directories.delete(directory);
        }
    }

    private static void start(Path jar, Path archive, Path directory) throws IOException, InterruptedException {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", // it lives for seconds
                "-XX:ArchiveClassesAtExit=" + archive,
                "-Xlog:disable", // it would list the classes of libraries that are too old for an archive
                "-Xlog:all=error:stderr",
                "-jar",
                jar.toString(),
                "--data-dir=" + directory,
                "--port=0",
                "--management-port=0");
        try (CommandServer server = new CommandServer(CommandServer.builder(command), directory.resolve("out.log"))) {
            server.awaitReady(START_LIMIT);
        }
    }
}
