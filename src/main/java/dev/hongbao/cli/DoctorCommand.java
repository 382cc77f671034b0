package dev.hongbao.cli;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.server.Ailment;
import dev.hongbao.server.Ailment.Severity;
import dev.hongbao.server.Doctor;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** What is wrong, and what to do first. */
@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        abbreviateSynopsis = true,
        sortOptions = false,
        description = {
            "Asks the server of this configuration and its stores what one asks at night, and tells the worst first.",
            "It only looks. Each finding names its section of the runbook, in the guide.",
            "Exit code 1 when callers are refused or soon will be, or the books break a rule."
        })
final class DoctorCommand implements Callable<Integer> {
    private static final String RUNBOOK = "/docs/guide/runbook.html#";

    private final ConfigFlags config;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    DoctorCommand(ConfigFlags config) {
        this.config = config;
    }

    @Override
    public Integer call() {
        HongbaoConfig loaded = config.load().config();
        Logging.choose(loaded.log());
        List<Ailment> found = Doctor.examine(loaded);
        PrintWriter out = spec.commandLine().getOut();
        Ailment worst = found.get(0);
        out.println(
                worst.severity() == Severity.WELL
                        ? "All is well."
                        : "First: " + worst.what() + ". See " + RUNBOOK + worst.section());
        for (Ailment each : found) {
            out.printf("%-5s %s%n", each.severity().name().toLowerCase(Locale.ROOT), each.what());
            if (!each.section().isEmpty()) {
                out.println("      " + RUNBOOK + each.section());
            }
        }
        out.flush();
        return worst.severity() == Severity.BAD ? ExitCode.SOFTWARE : ExitCode.OK;
    }
}
