package dev.hongbao.cli;

import dev.hongbao.config.Option.ConfigText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Prints a configuration file with every option at its default. */
@Command(
        name = "default-config",
        mixinStandardHelpOptions = true,
        description = "Prints a YAML file with every option, its range and its default.")
final class DefaultConfigCommand implements Runnable {
    @Option(names = "--markdown", description = "Print a Markdown table instead.")
    private boolean markdown;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    @Override
    public void run() {
        spec.commandLine().getOut().print(markdown ? ConfigText.markdownTable() : ConfigText.defaultYaml());
        spec.commandLine().getOut().flush();
    }
}
