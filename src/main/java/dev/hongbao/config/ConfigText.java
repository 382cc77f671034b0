package dev.hongbao.config;

import java.util.stream.Collectors;

/** The options as text: the default file, the guide's table, and the effective values. */
public final class ConfigText {
    private ConfigText() {}

    /**
     * A YAML file with every option at its default, commented out ({@code #key: value}; prose is {@code # like this}). It
     * changes nothing until a line is uncommented.
     */
    public static String defaultYaml() {
        StringBuilder out = new StringBuilder("""
                # Hongbao's options, each commented out at its default. Remove the # before a key to set it.
                # Flags beat environment variables beat this file. Read from conf/hongbao.yaml, or from --config FILE (HONGBAO_CONFIG).
                # Every option also has a variable and a flag: HONGBAO_HTTP_PORT and --http-port for http.port.
                # Relative paths start at the working directory.
                """);
        String section = "";
        for (Option<?> option : Option.ALL) {
            int dot = option.path().indexOf('.');
            String head = dot < 0 ? "" : option.path().substring(0, dot);
            String indent = head.isEmpty() ? "" : "  ";
            if (!head.equals(section) || head.isEmpty()) {
                out.append('\n');
                out.append(head.isEmpty() ? "" : head + ":\n");
                section = head;
            }
            out.append(indent).append("# ").append(option.doc()).append('\n');
            out.append(indent).append("# Allowed: ").append(option.allowed()).append(".\n");
            String key = option.path().substring(dot + 1);
            out.append(indent)
                    .append('#')
                    .append(key)
                    .append(": ")
                    .append(yamlDefault(option))
                    .append('\n');
        }
        return out.toString();
    }

    /** A Markdown table of every option. */
    public static String markdownTable() {
        String rows = Option.ALL.stream()
                .map(option -> "| `%s` | %s | %s | %s |"
                        .formatted(
                                option.path(),
                                option.defaultText().isEmpty() ? "" : "`" + option.defaultText() + "`",
                                cell(option.kind() + ": " + option.allowed()),
                                cell(option.doc())))
                .collect(Collectors.joining("\n"));
        return "| option | default | allowed | what it does |\n|---|---|---|---|\n" + rows + "\n";
    }

    /** One line per option: path, value without passwords, and source. */
    public static String effective(ConfigLoader.Loaded loaded) {
        return loaded.effective().stream()
                .map(each -> each.option().path() + " = " + each.text() + "  (" + each.origin() + ")")
                .collect(Collectors.joining("\n"));
    }

    private static String yamlDefault(Option<?> option) {
        if (option.defaultText().isEmpty()) {
            return option.kind().equals("files") ? "[]" : "\"\"";
        }
        return option.defaultText();
    }

    private static String cell(String text) {
        return text.replace("|", "\\|");
    }
}
