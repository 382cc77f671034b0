package dev.hongbao.cli;

import dev.hongbao.config.ConfigLoader;
import dev.hongbao.config.HongbaoConfig.ConfigException;
import dev.hongbao.config.Option;
import dev.hongbao.server.HongbaoServer;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
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
                    + " below ./data (hongbao.jar only).",
            "Options come from flags, environment variables (HONGBAO_HTTP_PORT for --http-port), a YAML file and"
                    + " defaults, in this order."
        },
        optionListHeading = "%nOptions:%n",
        commandListHeading = "%nCommands:%n",
        footerHeading = "%n",
        footer = {
            "'hongbao COMMAND --help' shows a command's options.",
            "Exit codes: 0 done, 1 failed, or the answer is no, 2 bad options or input; reconcile: 3 the books could"
                    + " not be checked, 4 something is quarantined."
        },
        mixinStandardHelpOptions = true)
public final class Hongbao {
    private static final Pattern STORE_ADDRESS =
            Pattern.compile("(redis|postgres)\\.((owner-)?url(-file)?|tls-authority)");

    /** Of {@code hongbao.jar} only. */
    private static final Set<String> TOOLS = Set.of("demo", "bench", "chaos");

    private Hongbao() {}

    /** Runs a command to its end; {@code serve} ends with the process. Returns the exit code. */
    public static int run(String... args) {
        PrintWriter out = utf8(FileDescriptor.out);
        return run(
                System.getenv(),
                ConfigLoader.Sources.DEFAULT_FILE,
                HongbaoServer::start,
                out,
                utf8(FileDescriptor.err),
                args);
    }

    /** Greetings are Chinese also where the locale is POSIX. */
    private static PrintWriter utf8(FileDescriptor to) {
        return new PrintWriter(new FileOutputStream(to), true, StandardCharsets.UTF_8);
    }

    /**
     * Runs a command. Creates only the named command, because each option costs start-up time; creates all commands if none is
     * named.
     *
     * @param environment the process's variables
     * @param defaultFile the configuration file read when no other is named; null for none
     */
    static int run(
            Map<String, String> environment,
            @Nullable Path defaultFile,
            ServeCommand.Starter starter,
            PrintWriter out,
            PrintWriter err,
            String... args) {
        CommandLine root = new CommandLine(new Hongbao());
        root.getCommandSpec().version("Hongbao " + version());
        String[] line = withCommand(root, args);
        Map<String, Supplier<CommandLine>> commands = commands(environment, defaultFile, starter);
        if (!commands.containsKey(line[0])) { // a start does not look for them
            commands.putAll(tools());
        }
        Supplier<CommandLine> named = commands.get(line[0]);
        if (named == null && TOOLS.contains(line[0])) {
            err.println("hongbao: this jar has no command '" + line[0] + "': use hongbao.jar");
            return CommandLine.ExitCode.USAGE;
        }
        Set<String> names = new TreeSet<>(commands.keySet());
        names.addAll(TOOLS);
        if (named == null) {
            commands.values().forEach(command -> root.addSubcommand(command.get()));
            root.addSubcommand(new HelpCommand());
        } else {
            root.addSubcommand(named.get());
        }
        root.setCaseInsensitiveEnumValuesAllowed(true);
        root.registerConverter(UserId.class, converter(UserId::new));
        root.registerConverter(GroupId.class, converter(GroupId::new));
        root.registerConverter(Duration.class, converter(Option::parseDuration));
        root.setParameterExceptionHandler((fault, given) -> badUsage(fault, names));
        root.setExecutionExceptionHandler((failure, command, parsed) -> failed(failure, command));
        root.setOut(out);
        root.setErr(err);
        return root.execute(line);
    }

    /** By name, in the order of the help. */
    private static Map<String, Supplier<CommandLine>> commands(
            Map<String, String> environment, @Nullable Path defaultFile, ServeCommand.Starter starter) {
        Supplier<ConfigFlags> flags = () -> new ConfigFlags(environment, defaultFile);
        Map<String, Supplier<CommandLine>> commands = new LinkedHashMap<>();
        commands.put(
                "serve", () -> configured(flags.get(), config -> new ServeCommand(config, starter), option -> true));
        commands.put("token", () -> configured(flags.get(), TokenCommand::new, Hongbao::concernsTokens));
        commands.put("check-config", () -> configured(flags.get(), CheckConfigCommand::new, option -> false));
        commands.put("default-config", () -> new CommandLine(new DefaultConfigCommand()));
        commands.put("roles", () -> new CommandLine(new RolesCommand()));
        commands.put("split", () -> new CommandLine(new SplitCommand()));
        commands.put("verify", () -> new CommandLine(new VerifyCommand()));
        commands.put("draw", () -> new CommandLine(new DrawCommand()));
        commands.put("doctor", () -> configured(flags.get(), DoctorCommand::new, Hongbao::concernsServer));
        commands.put("reconcile", () -> configured(flags.get(), ReconcileCommand::new, Hongbao::concernsStores));
        commands.put("quarantine", () -> configured(flags.get(), QuarantineCommand::new, Hongbao::concernsStores));
        commands.put("webhooks", () -> configured(flags.get(), WebhooksCommand::new, Hongbao::concernsStores));
        return commands;
    }

    /** The commands of {@link MoreCommands}; empty in a jar without them. */
    private static Map<String, Supplier<CommandLine>> tools() {
        Map<String, Supplier<CommandLine>> found = new LinkedHashMap<>();
        ServiceLoader.load(MoreCommands.class)
                .forEach(more -> more.byName()
                        .forEach((name, command) -> found.put(name, () -> new CommandLine(command.get()))));
        return found;
    }

    private static CommandLine configured(
            ConfigFlags flags, Function<ConfigFlags, Object> command, Predicate<Option<?>> shown) {
        CommandLine line = new CommandLine(command.apply(flags));
        flags.addTo(line.getCommandSpec(), shown);
        return line;
    }

    private static boolean concernsStores(Option<?> option) {
        return STORE_ADDRESS.matcher(option.path()).matches() || option.path().equals("data.dir");
    }

    private static boolean concernsServer(Option<?> option) {
        return concernsStores(option)
                || option.path().equals("management.host")
                || option.path().equals("management.port");
    }

    private static boolean concernsTokens(Option<?> option) {
        return option.path().startsWith("token.") || option.path().equals("data.dir");
    }

    /** The arguments with {@code serve} in front when they begin with a flag that is not the root's own. */
    private static String[] withCommand(CommandLine root, String... args) {
        boolean named = args.length > 0
                && (!args[0].startsWith("-")
                        || root.getCommandSpec().optionsMap().containsKey(args[0]));
        return named
                ? args
                : Stream.concat(Stream.of("serve"), Arrays.stream(args)).toArray(String[]::new);
    }

    private static int badUsage(ParameterException fault, Set<String> commands) {
        CommandLine command = fault.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("hongbao: " + fault.getMessage());
        suggest(fault, commands, err);
        err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
        return CommandLine.ExitCode.USAGE;
    }

    private static void suggest(ParameterException fault, Set<String> commands, PrintWriter err) {
        if (!(fault instanceof UnmatchedArgumentException unmatched)) {
            return;
        }
        CommandSpec command = fault.getCommandLine().getCommandSpec();
        String first = unmatched.getUnmatched().get(0);
        if (commands.contains(first)) {
            err.println("The command comes first: hongbao " + first + " …");
            return;
        }
        Set<String> names = first.startsWith("-") ? command.optionsMap().keySet() : commands;
        ConfigLoader.nearest(first, names).ifPresent(nearest -> err.println("Did you mean " + nearest + "?"));
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

    /** The version in the jar's manifest; {@code development} when run from classes. */
    static String version() {
        String version = Hongbao.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }
}
