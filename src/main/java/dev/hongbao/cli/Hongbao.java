package dev.hongbao.cli;

import dev.hongbao.command.GroupId;
import dev.hongbao.command.UserId;
import dev.hongbao.config.ConfigException;
import dev.hongbao.config.ConfigSources;
import dev.hongbao.config.DurationText;
import dev.hongbao.config.Nearest;
import dev.hongbao.config.Option;
import dev.hongbao.server.HongbaoServer;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The root command. Without a command's name, {@code serve} is meant. */
@Command(
        name = "hongbao",
        header = "Hongbao: red packets that balance to the cent.",
        synopsisHeading = "%n",
        customSynopsis = {"hongbao [serve] [OPTIONS]", "hongbao COMMAND [OPTIONS]"},
        descriptionHeading = "%n",
        description = {
            "Without a command it serves, and with nothing configured it starts its own Redis and Postgres"
                    + " below ./data.",
            "Options come from flags, environment variables (HONGBAO_HTTP_PORT for --http-port), a YAML file and"
                    + " defaults, in this order."
        },
        optionListHeading = "%nOptions:%n",
        commandListHeading = "%nCommands:%n",
        footerHeading = "%n",
        footer = {"'hongbao COMMAND --help' shows a command's options.", "Exit codes: 0 done, 1 failed, 2 bad options."
        },
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class)
public final class Hongbao {
    private Hongbao() {}

    /** Runs a command to its end; {@code serve} ends with the process. Returns the exit code. */
    public static int run(String... args) {
        CommandLine root = commandLine(System.getenv(), ConfigSources.DEFAULT_FILE);
        // Greetings are Chinese also where the locale is POSIX.
        root.setOut(new PrintWriter(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8));
        root.setErr(new PrintWriter(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8));
        return root.execute(withCommand(root, args));
    }

    /**
     * All commands.
     *
     * @param environment the process's variables
     * @param defaultFile the configuration file read when no other is named; null for none
     */
    static CommandLine commandLine(Map<String, String> environment, @Nullable Path defaultFile) {
        return commandLine(environment, defaultFile, HongbaoServer::start);
    }

    static CommandLine commandLine(
            Map<String, String> environment, @Nullable Path defaultFile, ServeCommand.Starter starter) {
        CommandLine root = new CommandLine(new Hongbao());
        add(root, environment, defaultFile, flags -> new ServeCommand(flags, starter), option -> true);
        add(root, environment, defaultFile, TokenCommand::new, Hongbao::concernsTokens);
        add(root, environment, defaultFile, CheckConfigCommand::new, option -> false);
        root.addSubcommand(new DefaultConfigCommand());
        root.addSubcommand(new SplitCommand());
        root.addSubcommand(new DrawCommand());
        add(root, environment, defaultFile, ReconcileCommand::new, Hongbao::concernsStores);
        root.addSubcommand(new DemoCommand());
        root.addSubcommand(new BenchCommand());
        root.addSubcommand(new HelpCommand());
        root.setCaseInsensitiveEnumValuesAllowed(true);
        root.registerConverter(UserId.class, converter(UserId::new));
        root.registerConverter(GroupId.class, converter(GroupId::new));
        root.registerConverter(Duration.class, converter(DurationText::parse));
        root.setParameterExceptionHandler(Hongbao::badUsage);
        root.setExecutionExceptionHandler((failure, command, parsed) -> failed(failure, command));
        return root;
    }

    private static void add(
            CommandLine root,
            Map<String, String> environment,
            @Nullable Path defaultFile,
            Function<ConfigFlags, Object> command,
            Predicate<Option<?>> shown) {
        ConfigFlags flags = new ConfigFlags(environment, defaultFile);
        CommandLine line = new CommandLine(command.apply(flags));
        flags.addTo(line.getCommandSpec(), shown);
        root.addSubcommand(line);
    }

    private static boolean concernsStores(Option<?> option) {
        return option.path().endsWith(".url") || option.path().equals("data.dir");
    }

    private static boolean concernsTokens(Option<?> option) {
        return option.path().startsWith("token.") || option.path().equals("data.dir");
    }

    /** The arguments with {@code serve} in front when they begin with a flag that is not the root's own. */
    static String[] withCommand(CommandLine root, String... args) {
        boolean named = args.length > 0
                && (!args[0].startsWith("-")
                        || root.getCommandSpec().optionsMap().containsKey(args[0]));
        return named
                ? args
                : Stream.concat(Stream.of("serve"), Arrays.stream(args)).toArray(String[]::new);
    }

    private static int badUsage(ParameterException fault, String[] args) {
        CommandLine command = fault.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("hongbao: " + fault.getMessage());
        suggest(fault, err);
        err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
        return CommandLine.ExitCode.USAGE;
    }

    private static void suggest(ParameterException fault, PrintWriter err) {
        if (!(fault instanceof UnmatchedArgumentException unmatched)) {
            return;
        }
        CommandSpec command = fault.getCommandLine().getCommandSpec();
        Set<String> commands = command.root().subcommands().keySet();
        String first = unmatched.getUnmatched().get(0);
        if (commands.contains(first)) {
            err.println("The command comes first: hongbao " + first + " …");
            return;
        }
        Set<String> names = first.startsWith("-") ? command.optionsMap().keySet() : commands;
        Nearest.to(first, names).ifPresent(nearest -> err.println("Did you mean " + nearest + "?"));
    }

    private static int failed(Exception failure, CommandLine command) {
        command.getErr().println("hongbao: " + Failure.describe(failure));
        return failure instanceof ConfigException ? CommandLine.ExitCode.USAGE : CommandLine.ExitCode.SOFTWARE;
    }

    private static <T> ITypeConverter<T> converter(Function<String, T> parser) {
        return text -> {
            try {
                return parser.apply(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        };
    }
}
