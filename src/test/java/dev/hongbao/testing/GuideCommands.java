package dev.hongbao.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The commands of a page of the guide, section by section, as a reader would type them. */
public final class GuideCommands {
    private static final Pattern BLOCK = Pattern.compile("(?ms)^```(?<language>sh|sql|conf)\n(?<text>.*?)^```$");
    private static final Pattern SETTING = Pattern.compile("(?m)^(?<name>\\w+) = '?(?<value>.*?)'?$");

    private final String page;
    private final Map<String, String> names = new LinkedHashMap<>();

    /** A block: {@code sh}, {@code sql} or {@code conf}. */
    private record Block(String language, String text) {}

    private GuideCommands(String page) {
        this.page = page;
    }

    /** @param page its name, without {@code .md} */
    public static GuideCommands of(String page) {
        try {
            return new GuideCommands(Files.readString(Path.of("src/site/markdown", page + ".md")));
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }

    /** Here, what the page calls one thing is called another. Commands that name a longer one are told first. */
    public GuideCommands where(String there, Object here) {
        names.put(there, here.toString());
        return this;
    }

    /** The settings of a section's {@code conf} blocks, by name. */
    public Map<String, String> settings(String section) {
        Map<String, String> settings = new LinkedHashMap<>();
        for (Block block : blocks(section)) {
            if (block.language.equals("conf")) {
                Matcher setting = SETTING.matcher(block.text);
                while (setting.find()) {
                    settings.put(setting.group("name"), setting.group("value"));
                }
            }
        }
        return settings;
    }

    /** Runs the {@code sql} and {@code sh} blocks of a section, in their order. Fails with the first that fails. */
    public void follow(String section, Connection session) throws Exception {
        for (Block block : blocks(section)) {
            switch (block.language) {
                case "sql" -> sql(block.text, session);
                case "sh" -> shell(block.text);
                default -> {}
            }
        }
    }

    /** The statements of a section's {@code sql} blocks, in their order. */
    public List<String> statements(String section) {
        return blocks(section).stream()
                .filter(block -> block.language.equals("sql"))
                .flatMap(block -> statementsOf(block.text))
                .toList();
    }

    private static Stream<String> statementsOf(String sql) {
        return Stream.of(sql.split(";\n", -1)).filter(command -> !command.isBlank());
    }

    private List<Block> blocks(String section) {
        int begin = page.indexOf("\n## " + section + "\n");
        if (begin < 0) {
            throw new IllegalArgumentException("the page has no section " + section);
        }
        int end = page.indexOf("\n## ", begin + 1);
        List<Block> blocks = new ArrayList<>();
        Matcher found = BLOCK.matcher(page.substring(begin, end < 0 ? page.length() : end));
        while (found.find()) {
            String text = found.group("text");
            for (Map.Entry<String, String> name : names.entrySet()) {
                text = text.replace(name.getKey(), name.getValue());
            }
            blocks.add(new Block(found.group("language"), text));
        }
        return blocks;
    }

    private static void sql(String text, Connection session) throws SQLException {
        try (Statement statement = session.createStatement()) {
            for (String command : statementsOf(text).toList()) {
                statement.execute(command);
            }
        }
    }

    private static void shell(String text) throws IOException, InterruptedException {
        Path output = Files.createTempFile("guide", ".out");
        try {
            Process shell = new ProcessBuilder("bash", "-e", "-c", text)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            if (!shell.waitFor(1, TimeUnit.MINUTES) || shell.exitValue() != 0) {
                shell.destroyForcibly();
                throw new IllegalStateException(text + "\nended with: " + Files.readString(output));
            }
        } finally {
            Files.delete(output);
        }
    }
}
