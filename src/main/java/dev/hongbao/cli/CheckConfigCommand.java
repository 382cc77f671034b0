package dev.hongbao.cli;

import dev.hongbao.config.Option.ConfigText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Shows the configuration in force, or every fault in it. */
@Command(
        name = "check-config",
        mixinStandardHelpOptions = true,
        description = {
            "Checks the configuration and shows every value with its origin, without passwords.",
            "Takes every option of serve. Exit code 2 if there is a fault."
        })
final class CheckConfigCommand implements Runnable {
    private final ConfigFlags config;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    CheckConfigCommand(ConfigFlags config) {
        this.config = config;
    }

    @Override
    public void run() {
        spec.commandLine().getOut().println(ConfigText.effective(config.load()));
    }
}
