package dev.hongbao.cli;

import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.config.HongbaoConfig.ConfigException;
import dev.hongbao.reconcile.Reconciliation;
import dev.hongbao.reconcile.Reconciliation.Finding;
import dev.hongbao.reconcile.Reconciliation.Finding.Severity;
import dev.hongbao.server.Operations;
import dev.hongbao.store.Stores;
import dev.hongbao.store.Stores.StoreAddresses;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Checks the books: the invariants over the whole database, and Redis against it. */
@Command(
        name = "reconcile",
        mixinStandardHelpOptions = true,
        abbreviateSynopsis = true,
        sortOptions = false,
        description = {
            "Checks every invariant on money over the whole database, and the journal and packets in Redis against it.",
            "Prints each check and what breaks it. May run beside a server at work. Its cost grows with the"
                    + " books: see --since-checkpoint.",
            "Exit code 0 when the books are clean, 1 when a rule is violated, 2 for bad options, 3 when the books"
                    + " could not be checked, 4 when something is quarantined and waits for the operator. Findings that"
                    + " the next recovery repairs are listed, but are no fault."
        })
final class ReconcileCommand implements Callable<Integer> {
    /** A store did not answer, or another run is active: the state of the books is unknown. */
    private static final int UNKNOWN = 3;

    /** No rule is violated, but the operator must act. */
    private static final int QUARANTINED = 4;

    private final ConfigFlags config;

    @Option(
            names = "--since-checkpoint",
            description =
                    "Check what is new since the last clean run with this option, as the server does in the background;"
                            + " then that is the checkpoint. It cannot see that something older was altered.")
    private boolean sinceCheckpoint;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    ReconcileCommand(ConfigFlags config) {
        this.config = config;
    }

    @Override
    public Integer call() {
        Pulse pulse = new Pulse();
        pulse.start();
        try {
            return check();
        } catch (ConfigException fault) {
            throw fault;
        } catch (Exception fault) {
            spec.commandLine()
                    .getErr()
                    .println("hongbao: the books could not be checked, and their state is unknown: "
                            + Failure.describe(fault) + pulse.hint());
            return UNKNOWN;
        }
    }

    /** Detects that the process stood still: it was stopped, its container was paused, or the machine slept. */
    private static final class Pulse extends Thread {
        private static final long BEAT_MILLIS = 500;
        private static final long STILL_MILLIS = 3_000;

        private volatile long longestMillis;

        Pulse() {
            super("pulse");
            setDaemon(true);
        }

        @Override
        public void run() {
            long before = System.nanoTime();
            while (true) {
                try {
                    sleep(BEAT_MILLIS);
                } catch (InterruptedException ended) {
                    return;
                }
                long now = System.nanoTime();
                longestMillis = Math.max(longestMillis, (now - before) / 1_000_000 - BEAT_MILLIS);
                before = now;
            }
        }

        /** Empty if the process never stood still. */
        String hint() {
            return longestMillis < STILL_MILLIS
                    ? ""
                    : ". This process stood still for " + longestMillis / 1_000 + " s, so a store may have hung up";
        }
    }

    private int check() throws Exception {
        HongbaoConfig loaded = config.load().config();
        Logging.choose(loaded.log());
        PrintWriter out = spec.commandLine().getOut();
        try (Stores stores = Stores.join(loaded)) {
            if (sinceCheckpoint) {
                return runSinceCheckpoint(stores.addresses(), out);
            }
            List<Finding> findings = Operations.reconcile(stores.addresses(), finding -> print(finding, out));
            out.println(summary(findings));
            out.flush();
            return exitCode(findings);
        }
    }

    private static int runSinceCheckpoint(StoreAddresses stores, PrintWriter out) throws Exception {
        Optional<Reconciliation.SinceRun> run = Operations.reconcileSinceCheckpoint(stores);
        run.ifPresentOrElse(done -> print(done, out), () -> out.println("A run from the checkpoint is under way."));
        out.flush();
        return run.isEmpty() ? UNKNOWN : exitCode(run.get().findings());
    }

    private static void print(Reconciliation.SinceRun run, PrintWriter out) {
        run.findings().forEach(finding -> print(finding, out));
        Reconciliation.leftOut().forEach(rule -> out.println("left  " + rule));
        run.leftOut().forEach(large -> out.println("left  " + large));
        out.println(summary(run.findings()) + "; from transfer " + run.after() + " to " + run.upTo()
                + "; what is left is checked without --since-checkpoint");
    }

    /** The count of findings per severity. */
    static String summary(List<Finding> findings) {
        long violations = count(findings, Severity.VIOLATION);
        long quarantined = count(findings, Severity.QUARANTINED);
        long healing = count(findings, Severity.HEALS);
        return findings.size() + " checks, " + (violations == 0 ? "no violation" : violations + " violations")
                + (quarantined == 0 ? "" : ", " + quarantined + " quarantined")
                + (healing == 0 ? "" : ", " + healing + " that the next recovery heals");
    }

    static int exitCode(List<Finding> findings) {
        if (count(findings, Severity.VIOLATION) > 0) {
            return ExitCode.SOFTWARE;
        }
        return count(findings, Severity.QUARANTINED) > 0 ? QUARANTINED : ExitCode.OK;
    }

    private static long count(List<Finding> findings, Severity severity) {
        return findings.stream()
                .filter(finding -> finding.severity() == severity)
                .mapToLong(finding -> finding.lines().size())
                .sum();
    }

    static void print(Finding finding, PrintWriter out) {
        out.printf("%s  %-3s %s%n", finding.isClean() ? "ok  " : word(finding), finding.invariant(), finding.name());
        finding.lines().forEach(line -> out.println("          " + line));
        out.flush();
    }

    private static String word(Finding finding) {
        return switch (finding.severity()) {
            case VIOLATION -> "FAIL";
            case QUARANTINED -> "HELD";
            case HEALS -> "HEAL";
        };
    }
}
