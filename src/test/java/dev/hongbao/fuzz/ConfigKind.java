package dev.hongbao.fuzz;

import dev.hongbao.config.ConfigLoader;
import dev.hongbao.config.HongbaoConfig.ConfigException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Configuration files, variables and flags: each is read, or refused with every fault in words. */
final class ConfigKind implements Kind {
    private static final long LIMIT_NANOS = 30_000_000_000L;

    /** Beside the defaults of other options. */
    private static final List<String> VALUES = List.of(
            "65536",
            "99999999999",
            "0x10",
            "999999999999d",
            "0s",
            "1.5s",
            "9999999999MiB",
            "yes",
            "~",
            "off",
            "\"\"",
            "''",
            "::1",
            "[::]",
            "10.0.0.0/x",
            "10.0.0.0/99999999999",
            "1.2.3.4/33",
            "/8",
            "redis://:p@h:1",
            "redis://h:99999/1",
            "rediss+sentinel://a,b/m",
            "redis+cluster://",
            "redis://%zz@h",
            "postgresql://u:p@h/db",
            "postgresql://u:p@h/db?sslmode=x",
            "postgresql://u:%@h/db",
            "https://h:99999999999/x",
            "https://[",
            "http://a b/",
            "CNY:2,CNY:2",
            "CNY:99",
            "cny:2:x",
            "CNY:x",
            ":",
            "::",
            ",,,",
            "https://a.example,null",
            "[a, b]",
            "- x",
            "|\n  x",
            "&a x",
            "*a",
            "!!evil x",
            "!!binary x",
            "!!set {a}",
            "2026-01-01",
            "/etc/passwd",
            "/nowhere/at/all",
            "\"\\u0000\"",
            "\"\\ud800\"",
            "a: b",
            "? a",
            "%",
            "@",
            "`",
            "\t");

    private final Path directory;
    private final Map<String, String> defaults = new TreeMap<>();
    private final Hostile hostile;

    ConfigKind(Path directory, Hostile hostile) throws IOException {
        this.directory = Files.createDirectories(directory);
        this.hostile = hostile;
        ConfigLoader.Loaded loaded = ConfigLoader.load(new ConfigLoader.Sources(Map.of(), Map.of(), null, null));
        loaded.effective().forEach(each -> defaults.put(each.option().path(), each.text()));
    }

    @Override
    public String name() {
        return "config";
    }

    @Override
    public int share() {
        return 8;
    }

    @Override
    public void send(List<Input> inputs, Findings findings) throws IOException {
        for (Input input : inputs) {
            byte[] text = file(input);
            Path file = directory.resolve(input.number() + ".yaml");
            Files.write(file, text);
            Map<String, String> flags = input.oneIn(4) ? some(input, defaults.keySet(), "") : Map.of();
            Map<String, String> variables = input.oneIn(4) ? some(input, defaults.keySet(), "HONGBAO_") : Map.of();
            String fault = load(input, new ConfigLoader.Sources(flags, variables, file, null), findings);
            Files.delete(file);
            if (fault != null) {
                findings.found(
                        input,
                        fault,
                        new String(text, StandardCharsets.UTF_8) + " flags " + flags + " variables " + variables);
            }
        }
    }

    private static String load(Input input, ConfigLoader.Sources sources, Findings findings) {
        long begun = System.nanoTime();
        try {
            ConfigLoader.load(sources);
            findings.count(input, "read");
        } catch (ConfigException refused) {
            findings.count(input, "refused");
            String internals = Oracle.internals(refused.getMessage());
            if (internals != null) {
                return internals;
            }
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError fault) {
            StackTraceElement[] stack = fault.getStackTrace();
            return fault + (stack.length == 0 ? "" : " at " + List.of(stack).subList(0, Math.min(8, stack.length)));
        }
        long took = System.nanoTime() - begun;
        return took > LIMIT_NANOS ? "it took " + took / 1_000_000 + " ms" : null;
    }

    private Map<String, String> some(Input input, Iterable<String> paths, String prefix) {
        List<String> all = new ArrayList<>();
        paths.forEach(all::add);
        Map<String, String> some = new HashMap<>();
        while (input.oneIn(3)) {
            String path = input.pick(all) + (input.oneIn(8) ? input.pick("x", "-", ".y", "新") : "");
            String name = prefix.isEmpty()
                    ? path
                    : prefix + path.replace('.', '_').replace('-', '_').toUpperCase(java.util.Locale.ROOT);
            some.put(name, value(input));
        }
        return some;
    }

    private String value(Input input) {
        return switch (input.random().nextInt(4)) {
            case 0 -> hostile.text(input);
            case 1 -> input.pick(List.copyOf(defaults.values()));
            default -> input.pick(VALUES);
        };
    }

    private byte[] file(Input input) {
        StringBuilder text = new StringBuilder();
        boolean calm = input.oneIn(2);
        String section = "";
        for (Map.Entry<String, String> option : defaults.entrySet()) {
            if (!input.oneIn(6)) {
                continue;
            }
            String[] parts =
                    ("." + option.getKey()).replaceFirst("^\\.(?=.*\\.)", "").split("\\.", 2);
            if (!parts[0].isEmpty() && (!parts[0].equals(section) || !calm && input.oneIn(60))) {
                section = parts[0];
                text.append(section)
                        .append(
                                !calm && input.oneIn(60)
                                        ? input.pick("", " :", "::", ": &a", ": *a", ": []", ": 7")
                                        : ":")
                        .append('\n');
            }
            String name = !calm && input.oneIn(20)
                    ? input.pick(parts[1] + "x", "", "? [a]", "<<", "\"" + parts[1], "a.b", "新")
                    : parts[1];
            String value = input.oneIn(calm ? 200 : 3) ? value(input) : option.getValue();
            text.append(!calm && input.oneIn(50) ? "\t" : parts[0].isEmpty() ? "" : "  ")
                    .append(name)
                    .append(": ")
                    .append(value)
                    .append('\n');
        }
        if (input.oneIn(40)) {
            bomb(input, text);
        }
        byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
        if (bytes.length > 0 && input.oneIn(8)) {
            bytes[input.random().nextInt(bytes.length)] = (byte) input.random().nextInt(256);
        }
        return bytes;
    }

    private static void bomb(Input input, StringBuilder text) {
        switch (input.random().nextInt(9)) {
            case 0 -> {
                text.append("a0: &a0 [x, x]\n");
                for (int i = 1; i < 40; i++) {
                    text.append("a")
                            .append(i)
                            .append(": &a")
                            .append(i)
                            .append(" [*a")
                            .append(i - 1)
                            .append(", *a")
                            .append(i - 1)
                            .append("]\n");
                }
            }
            case 1 ->
                text.append("deep: ")
                        .append("[".repeat(20_000))
                        .append("]".repeat(20_000))
                        .append('\n');
            case 2 -> text.append("x".repeat(200_000)).append(": 1\n");
            case 3 -> text.append("http:\n  host: ").append("a".repeat(300_000)).append('\n');
            case 4 -> text.append("self: &s {s: *s}\n");
            case 5 -> text.append("--- a\n--- b\n");
            case 6 -> {
                for (int i = 0; i < 4_000; i++) {
                    text.append("unknown-option-").append(i).append(": 1\n");
                }
            }
            case 7 -> text.append("a: ".repeat(3_000)).append('\n');
            default -> text.append("s: {<<: {http: {port: 1}}, <<: [{a: 1}]}\n");
        }
    }
}
