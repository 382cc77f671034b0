package dev.hongbao.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** A program that a test may do without. */
public final class InstalledProgram {
    private InstalledProgram() {}

    /** Where it is; a test that needs it is skipped where it is not on the path, and says so. */
    public static Path assume(String name, String debianPackage) {
        Optional<Path> found = Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .map(each -> Path.of(each, name))
                .filter(Files::isExecutable)
                .findFirst();
        assumeTrue(found.isPresent(), name + " (of Debian's package " + debianPackage + ") is not here");
        return found.orElseThrow();
    }
}
