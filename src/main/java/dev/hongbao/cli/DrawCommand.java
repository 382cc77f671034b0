package dev.hongbao.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code draw}: commands for prize draws. */
@Command(
        name = "draw",
        description = "Prize draws: try a definition before it is used.",
        mixinStandardHelpOptions = true,
        subcommands = SimulateCommand.class)
final class DrawCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before run()
    private CommandSpec spec;

    /** For picocli. */
    public DrawCommand() {}

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "draw needs a command: simulate");
    }
}
