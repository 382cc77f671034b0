package dev.hongbao.cli;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.domain.archive.ArchiveHinderedException;
import dev.hongbao.domain.archive.Archiver;
import dev.hongbao.server.Stores;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.YearMonth;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Puts an old month away into files, and reads such files back. */
@Command(
        name = "archive",
        mixinStandardHelpOptions = true,
        abbreviateSynopsis = true,
        sortOptions = false,
        description = {
            "Puts the transfers, amounts and plays of a month that is over into files, and drops them from the database.",
            "What they add up to stays as the accounts' openings, so every balance can still be proved. A month goes as a whole or not"
                    + " at all: after a stop, run it again. It refuses while anything of the month is open, or still to be told.",
            "--verify reads the files of all archived months back, and holds them against the database.",
            "Works as the owner of the tables (postgres.owner-url), beside servers at work."
        })
final class ArchiveCommand implements Callable<Integer> {
    private final ConfigFlags config;

    @Option(
            names = "--month",
            paramLabel = "YYYY-MM",
            description = "The month, in UTC: the earliest that is not archived.")
    private @Nullable YearMonth month;

    @Option(
            names = "--to",
            paramLabel = "DIR",
            required = true,
            description = "The directory of the files, of all months. Keep a copy elsewhere.")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private Path to;

    @Option(names = "--verify", description = "Read all files back; after archiving, when a month is given too.")
    private boolean verify;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    ArchiveCommand(ConfigFlags config) {
        this.config = config;
    }

    @Override
    public Integer call() throws Exception {
        if (month == null && !verify) {
            throw new ParameterException(spec.commandLine(), "give --month, or --verify, or both");
        }
        HongbaoConfig loaded = config.load().config();
        Logging.choose(loaded.log());
        PrintWriter out = spec.commandLine().getOut();
        try (Stores stores = Stores.join(loaded);
                Archiver archiver = Archiver.open(stores.addresses().owner(), to)) {
            if (month != null) {
                print(archiver.archive(month), out);
            }
            return verify ? verify(archiver, out) : ExitCode.OK;
        } catch (ArchiveHinderedException refused) {
            PrintWriter err = spec.commandLine().getErr();
            err.println("hongbao: " + (month == null ? "" : month + " is not archived, and nothing has changed:"));
            String.valueOf(refused.getMessage()).lines().forEach(line -> err.println("  " + line));
            return ExitCode.SOFTWARE;
        }
    }

    private static void print(Archiver.Archived archived, PrintWriter out) {
        out.println(archived.month()
                + (archived.wasBefore() ? " was archived before" : " is archived: " + archived.rows() + " rows")
                + ", manifest " + archived.manifest());
        out.flush();
    }

    private static int verify(Archiver archiver, PrintWriter out) throws Exception {
        List<String> faults = archiver.verify();
        faults.forEach(line -> out.println("FAIL  " + line));
        out.println(faults.isEmpty() ? "The files are whole, and add up to the openings." : faults.size() + " faults");
        out.flush();
        return faults.isEmpty() ? ExitCode.OK : ExitCode.SOFTWARE;
    }
}
