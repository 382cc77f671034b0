package dev.hongbao.mutants;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A defect that can be planted.
 *
 * @param name what goes wrong with it
 * @param file below {@code src/main} or {@code src/tools}
 * @param find text that is there once
 * @param put what stands there instead
 * @param tests classes or methods, {@code ClaimIT} or {@code ClaimIT#aMethod}, of which one has to fail
 */
record Mutant(String name, String file, String find, String put, List<String> tests) {
    private static final Path SERVER = Path.of("src", "main");
    private static final Path TOOLS = Path.of("src", "tools");
    private static final Path TESTS = Path.of("src", "test", "java");
    private static final String LIST = "/mutants.txt";

    /** All of them, in the order of the list. */
    static List<Mutant> all() throws IOException {
        try (InputStream in = Mutant.class.getResourceAsStream(LIST)) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            List<Mutant> all = new ArrayList<>();
            for (String block : text.split("(?m)^== ", -1)) {
                if (!block.isBlank() && !block.startsWith("#")) {
                    all.add(parse(block));
                }
            }
            return all;
        }
    }

    /** {@code name, file, tests:, <<<, text to find, >>>, text to put}, each on lines of its own. */
    private static Mutant parse(String block) {
        String[] head = block.split("\n", 4);
        int begin = block.indexOf("<<<\n");
        int middle = block.indexOf(">>>\n");
        if (head.length < 4 || begin < 0 || middle < begin || !head[2].startsWith("tests: ")) {
            throw new IllegalArgumentException("not a mutant: " + block);
        }
        return new Mutant(
                head[0],
                head[1],
                block.substring(begin + 4, middle).stripTrailing(),
                block.substring(middle + 4).stripTrailing(),
                List.of(head[2].substring("tests: ".length()).split(" ")));
    }

    Path source() {
        return Files.exists(SERVER.resolve(file)) ? SERVER.resolve(file) : TOOLS.resolve(file);
    }

    /** Whether it is a class; else it is a resource. */
    boolean isClass() {
        return file.endsWith(".java");
    }

    /** Whether a test without stores finds it. */
    boolean isCheap() {
        return tests.stream().allMatch(test -> test.split("#", 2)[0].endsWith("Test"));
    }

    /** The whole file with the defect in it. @throws IllegalStateException when its text is not there, or not once */
    String planted() throws IOException {
        String source = Files.readString(source());
        int at = source.indexOf(find);
        if (at < 0 || source.indexOf(find, at + 1) >= 0) {
            throw new IllegalStateException(
                    name + ": its text is " + (at < 0 ? "not" : "more than once") + " in " + file);
        }
        return source.substring(0, at) + put + source.substring(at + find.length());
    }

    /** Where a test's class is, by its simple name. */
    static Path testSource(String simpleName) throws IOException {
        try (var files = Files.walk(TESTS)) {
            return files.filter(file -> file.endsWith(simpleName + ".java"))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("there is no test " + simpleName));
        }
    }

    /** The full name of a test's class. */
    static String className(String simpleName) throws IOException {
        String path = TESTS.relativize(testSource(simpleName)).toString();
        return path.substring(0, path.length() - ".java".length()).replace('/', '.');
    }
}
