package dev.hongbao.mutants;

import dev.hongbao.tools.local.Directories;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Plants one defect into a directory of the class path, and runs its tests there. Blocking. */
final class MutantRun {
    private static final Path DIRECTORY = Path.of("target", "mutants");
    private static final Path RESOURCES = Path.of("resources");
    private static final Path CLASSES = Path.of("target", "classes");
    private static final long LIMIT_SECONDS = 240;

    /** The time of the simulation for a defect: some take hundreds of histories. */
    private static final long SIMULATION_SECONDS = 120;

    /** Faults of a defect that was not planted well. */
    private static final String UNFIT =
            "(?s).*(FlywayException|syntax error|NoClassDefFound|VerifyError|ParameterResolution).*";

    private MutantRun() {}

    /** The outcome. */
    enum Verdict {
        CAUGHT,
        /** No test failed: one is missing. */
        SURVIVED,
        /** It does not compile, or its schema cannot be made. */
        UNFIT
    }

    /** @param by which test failed, and how */
    record Result(Mutant mutant, Verdict verdict, String by, long millis) {
        @Override
        public String toString() {
            return "%-8s %5.1f s  %s: %s".formatted(verdict, millis / 1e3, mutant.name(), by);
        }
    }

    static Result of(Mutant mutant) throws IOException, InterruptedException {
        long begun = System.nanoTime();
        Path overlay = DIRECTORY.resolve(ProcessHandle.current().pid() + "-overlay");
        Directories.delete(overlay);
        Files.createDirectories(overlay);
        Path log = DIRECTORY.resolve(mutant.name().replaceAll("\\W+", "-") + ".log");
        String unfit = mutant.isClass() ? compile(mutant, overlay) : link(mutant, overlay);
        if (!unfit.isEmpty()) {
            return new Result(mutant, Verdict.UNFIT, unfit, 0);
        }
        Process process = new ProcessBuilder(command(mutant, overlay))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
        if (!ended) {
            process.destroyForcibly().waitFor();
        }
        long millis = (System.nanoTime() - begun) / 1_000_000;
        String by = Files.readAllLines(log).stream()
                .filter(line -> line.startsWith(MutantJvm.CAUGHT))
                .map(line -> line.substring(MutantJvm.CAUGHT.length()))
                .findFirst()
                .orElse(ended ? "see " + log : "it hangs");
        return new Result(mutant, verdict(ended, ended ? process.exitValue() : 0, by), by, millis);
    }

    private static Verdict verdict(boolean ended, int exit, String by) {
        if (by.matches(UNFIT) || ended && exit != MutantJvm.EXIT_CAUGHT && exit != MutantJvm.EXIT_SURVIVED) {
            return Verdict.UNFIT;
        }
        return ended && exit == MutantJvm.EXIT_SURVIVED ? Verdict.SURVIVED : Verdict.CAUGHT;
    }

    private static List<String> command(Mutant mutant, Path overlay) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx512m",
                "-Dseconds=" + SIMULATION_SECONDS,
                "-cp",
                classPath(mutant, overlay),
                MutantJvm.class.getName()));
        for (String test : mutant.tests()) {
            String[] parts = test.split("#", 2);
            command.add(Mutant.className(parts[0]) + (parts.length > 1 ? "#" + parts[1] : ""));
        }
        return command;
    }

    /**
     * Makes a copy of all classes and resources by links, in which one file is another one: Flyway refuses to find a migration twice.
     *
     * @return what is wrong: nothing
     */
    private static String link(Mutant mutant, Path overlay) throws IOException {
        Path from = CLASSES;
        Path to = overlay;
        for (Path name : RESOURCES.relativize(Path.of(mutant.file()))) {
            Files.createDirectories(to);
            try (var siblings = Files.newDirectoryStream(from)) {
                for (Path sibling : siblings) {
                    if (!sibling.getFileName().equals(name)) {
                        Files.createSymbolicLink(to.resolve(sibling.getFileName()), sibling.toAbsolutePath());
                    }
                }
            }
            from = from.resolve(name);
            to = to.resolve(name);
        }
        Files.writeString(to, mutant.planted());
        return "";
    }

    /** With the overlay in front, or, for a resource, in the place of what it is made of. */
    private static String classPath(Mutant mutant, Path overlay) {
        String path = System.getProperty("java.class.path");
        return mutant.isClass()
                ? overlay + File.pathSeparator + path
                : Stream.of(path.split(File.pathSeparator))
                        .map(entry -> Path.of(entry).endsWith(CLASSES) ? overlay.toString() : entry)
                        .collect(Collectors.joining(File.pathSeparator));
    }

    /** The class alone: what it calls is found on the class path. @return what the compiler says; empty for nothing */
    private static String compile(Mutant mutant, Path overlay) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter said = new StringWriter();
        String text = mutant.planted();
        var source =
                new SimpleJavaFileObject(
                        URI.create("string:///" + mutant.file().substring("java/".length())),
                        SimpleJavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return text;
                    }
                };
        List<String> options = List.of(
                "-d",
                overlay.toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "-proc:none",
                "-nowarn",
                "-parameters");
        try {
            return compiler.getTask(said, null, null, options, null, List.of(source))
                            .call()
                    ? ""
                    : said.toString();
        } catch (UncheckedIOException unreadable) {
            throw unreadable.getCause();
        }
    }
}
