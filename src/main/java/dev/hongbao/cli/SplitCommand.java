package dev.hongbao.cli;

import dev.hongbao.packet.split.Split;
import dev.hongbao.packet.split.SplitTerms;
import dev.hongbao.packet.split.SplitTerms.SplitAlgorithm;
import dev.hongbao.values.Text;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/**
 * {@code split}: prints a split of a total and its seed, so that it can be repeated. Needs no server and changes nothing. Exits
 * with 0, or with 2 and one line on standard error if the split is impossible or an option is wrong.
 */
@Command(name = "split", description = "Split a total into shares and show the amounts and how they are spread.")
final class SplitCommand implements Callable<Integer> {
    /** More shares than this are shown only with {@code --all}; 1,000 fill about two screens. */
    private static final int SHOWN_SHARES = 1_000;

    private static final int HISTOGRAM_ROWS = 12;

    private static final Pattern SEED_HEX = Pattern.compile("[0-9a-fA-F]{" + 2 * Split.SEED_BYTES + "}");

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Option(
            names = "--total",
            required = true,
            paramLabel = "AMOUNT",
            description = "The amount to split, in minor units (fen): 1 to 99999999999999.")
    private long total;

    @Option(
            names = "--count",
            required = true,
            paramLabel = "SHARES",
            description = "The number of shares: 1 to 100000.")
    private int count;

    @Option(
            names = "--algorithm",
            paramLabel = "NAME",
            converter = AlgorithmNames.class,
            completionCandidates = AlgorithmNames.class,
            description = "One of ${COMPLETION-CANDIDATES}; double-mean unless given.")
    private SplitAlgorithm algorithm = SplitAlgorithm.DOUBLE_MEAN;

    @Option(names = "--min", paramLabel = "AMOUNT", description = "The smallest share; 1 unless given.")
    private @Nullable Long min;

    @Option(names = "--max", paramLabel = "AMOUNT", description = "The largest share; no limit unless given.")
    private @Nullable Long max;

    @Option(
            names = "--seed",
            paramLabel = "HEX64",
            description =
                    "32 bytes as 64 hexadecimal digits; the same seed gives the same amounts. Random unless given.")
    private @Nullable String seed;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help and exit.")
    @SuppressWarnings("UnusedVariable") // picocli reads it
    private boolean help;

    @Option(names = "--all", description = "Print every amount, however many there are.")
    private boolean all;

    /** For picocli. */
    public SplitCommand() {}

    @Override
    public Integer call() {
        if (seed != null && !SEED_HEX.matcher(seed).matches()) {
            return refuse("a seed is " + 2 * Split.SEED_BYTES + " hexadecimal digits");
        }
        Text reason = SplitTerms.infeasible(algorithm, total, count, min, max);
        if (reason != null) {
            return refuse(reason.toString());
        }
        byte[] used = seed == null ? randomSeed() : HexFormat.of().parseHex(seed);
        print(Split.amounts(SplitTerms.of(algorithm, total, count, min, max), used), used);
        return spec.exitCodeOnSuccess();
    }

    private int refuse(String reason) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(reason);
        err.flush();
        return spec.exitCodeOnInvalidInput();
    }

    private void print(long[] amounts, byte[] used) {
        PrintWriter out = spec.commandLine().getOut();
        int columns = spec.usageMessage().width();
        if (all || count <= SHOWN_SHARES) {
            printWrapped(out, amounts, columns);
        } else {
            out.println(count + " amounts, not shown without --all");
        }
        out.println();
        int luckiest = Split.luckiest(amounts);
        out.println("algorithm  " + algorithm.wireName());
        out.println("seed       " + HexFormat.of().formatHex(used));
        out.println("shares     " + count);
        out.println("sum        " + Arrays.stream(amounts).sum());
        out.println("smallest   " + Arrays.stream(amounts).min().orElseThrow());
        out.println(
                "mean       " + BigDecimal.valueOf(total).divide(BigDecimal.valueOf(count), 2, RoundingMode.HALF_EVEN));
        out.println("largest    " + amounts[luckiest]);
        out.println("luckiest   slot " + luckiest);
        out.println();
        Histogram.of(amounts, HISTOGRAM_ROWS).lines(columns).forEach(out::println);
        out.flush();
    }

    /** Slot after slot, separated by spaces, in lines of at most {@code columns}. */
    private static void printWrapped(PrintWriter out, long[] amounts, int columns) {
        StringBuilder line = new StringBuilder();
        for (long amount : amounts) {
            String digits = Long.toString(amount);
            if (line.length() > 0 && line.length() + 1 + digits.length() > columns) {
                out.println(line);
                line.setLength(0);
            }
            line.append(line.length() == 0 ? "" : " ").append(digits);
        }
        out.println(line);
    }

    private static byte[] randomSeed() {
        byte[] seed = new byte[Split.SEED_BYTES];
        new SecureRandom().nextBytes(seed);
        return seed;
    }

    /** The algorithms by their names in the API: reads one, and lists all for the help text. */
    static final class AlgorithmNames implements ITypeConverter<SplitAlgorithm>, Iterable<String> {
        @Override
        public SplitAlgorithm convert(String value) {
            try {
                return SplitAlgorithm.of(value);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }

        @Override
        public Iterator<String> iterator() {
            return Stream.of(SplitAlgorithm.values())
                    .map(SplitAlgorithm::wireName)
                    .iterator();
        }
    }
}
