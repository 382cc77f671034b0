package dev.hongbao.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** The commands that try, measure and break this program on their own stores. {@code hongbao-server.jar} lacks them. */
public final class ToolCommands implements MoreCommands {
    @Override
    public Map<String, Supplier<Object>> byName() {
        Map<String, Supplier<Object>> commands = new LinkedHashMap<>();
        commands.put("demo", DemoCommand::new);
        commands.put("bench", BenchCommand::new);
        commands.put("chaos", ChaosCommand::new);
        return commands;
    }
}
