package dev.hongbao.cli;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.reconcile.Finding;
import dev.hongbao.server.Audit;
import dev.hongbao.server.Stores;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Checks the books: the invariants over the whole database, and Redis against it. */
@Command(
        name = "reconcile",
        mixinStandardHelpOptions = true,
        abbreviateSynopsis = true,
        sortOptions = false,
        description = {
            "Checks every invariant on money over the whole database, and the journal and packets in Redis against it.",
            "Prints each check and every violation; exit code 1 if there is any. May run beside a server at work."
        })
final class ReconcileCommand implements Callable<Integer> {
    private final ConfigFlags config;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    ReconcileCommand(ConfigFlags config) {
        this.config = config;
    }

    @Override
    public Integer call() throws Exception {
        HongbaoConfig loaded = config.load().config();
        Logging.choose(loaded.log());
        PrintWriter out = spec.commandLine().getOut();
        try (Stores stores = Stores.join(loaded)) {
            List<Finding> findings = Audit.run(stores.addresses(), finding -> print(finding, out));
            long violations =
                    findings.stream().mapToLong(f -> f.violations().size()).sum();
            out.println(
                    violations == 0
                            ? findings.size() + " checks, no violation"
                            : findings.size() + " checks, " + violations + " violations");
            out.flush();
            return violations == 0 ? ExitCode.OK : ExitCode.SOFTWARE;
        }
    }

    static void print(Finding finding, PrintWriter out) {
        out.printf("%s  %-3s %s%n", finding.isClean() ? "ok  " : "FAIL", finding.invariant(), finding.name());
        finding.violations().forEach(violation -> out.println("          " + violation));
        out.flush();
    }
}
