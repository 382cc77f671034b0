package dev.hongbao.cli;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.domain.fairness.PacketDocuments;
import dev.hongbao.domain.fairness.PacketEvidence;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code verify}: recomputes the shares of a closed packet from its seed. Needs no server and no store. Exits with 0 for yes, with 1 for
 * no, and with 2 and one line on standard error when it cannot be told.
 */
@Command(
        name = "verify",
        mixinStandardHelpOptions = true,
        description = {
            "Recompute all shares of a closed packet from its seed, offline, and say yes or no.",
            "FILE holds what the server answered: the packet, as GET /v1/packets/{packet} gives it, and after it all"
                    + " pages of GET /v1/packets/{packet}/claims.",
            "Exit code 0 for yes, 1 for no, 2 when it cannot be told: the input is not what it should be, or the packet"
                    + " is not closed."
        })
final class VerifyCommand implements Callable<Integer> {
    private static final int CANNOT_TELL = 2;

    /** A hundred thousand claims are about 20 MB. */
    private static final int MAX_BYTES = 64 << 20;

    private static final int MAX_LINES = 20;
    private static final int MAX_LINE = 500;
    private static final Pattern DIGEST = Pattern.compile("[0-9a-fA-F]{64}");

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(arity = "1..*", paramLabel = "FILE", description = "One file or several; - is standard input.")
    private List<String> files = List.of();

    @Option(
            names = "--commitment",
            paramLabel = "HEX64",
            description = "The commitment that was told before the race: the packet must still have it.")
    private @Nullable String commitment;

    @Override
    public Integer call() {
        if (commitment != null && !DIGEST.matcher(commitment).matches()) {
            return cannotTell("--commitment is 64 hexadecimal digits");
        }
        PacketEvidence evidence;
        try {
            evidence = PacketDocuments.read(read());
        } catch (IOException | InvalidPathException unreadable) {
            return cannotTell(Failure.describe(unreadable));
        } catch (InvalidInputException fault) {
            return cannotTell(fault.faults().get(0).pointer() + " "
                    + fault.faults().get(0).detail());
        }
        List<String> contradictions = new ArrayList<>(evidence.contradictions());
        String digest = evidence.terms().commitment().digest();
        if (commitment != null && !commitment.equalsIgnoreCase(digest)) {
            contradictions.add(0, "the commitment told before was " + commitment + ", now it is " + digest);
        }
        print(evidence, contradictions);
        return contradictions.isEmpty() ? spec.exitCodeOnSuccess() : 1;
    }

    private byte[] read() throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (String file : files) {
            if (file.equals("-")) {
                append(all, System.in);
            } else {
                try (InputStream in = Files.newInputStream(Path.of(file))) {
                    append(all, in);
                }
            }
        }
        return all.toByteArray();
    }

    private static void append(ByteArrayOutputStream all, InputStream in) throws IOException {
        all.writeBytes(in.readNBytes(MAX_BYTES - all.size() + 1));
        if (all.size() > MAX_BYTES) {
            throw new IOException("the input is larger than " + (MAX_BYTES >> 20) + " MB");
        }
        all.write('\n');
    }

    private void print(PacketEvidence evidence, List<String> contradictions) {
        PrintWriter out = spec.commandLine().getOut();
        PacketEvidence.Terms terms = evidence.terms();
        out.println((contradictions.isEmpty() ? "yes" : "NO ") + "  packet " + terms.packet() + ": "
                + terms.split().total() + " " + terms.asset() + " in "
                + terms.split().count() + " shares of "
                + terms.split().min() + " to " + terms.split().max() + ", "
                + terms.split().algorithm().wireName());
        if (contradictions.isEmpty()) {
            out.println("     the commitment is the SHA-256 of these terms and the seed");
            out.println("     the seed gives the amounts of all "
                    + evidence.claims().size() + " shares that were claimed");
            if (commitment == null) {
                out.println("     is it the commitment that you were told before the race? "
                        + terms.commitment().digest());
            }
        }
        contradictions.stream().limit(MAX_LINES).forEach(line -> out.println("     " + printable(line)));
        if (contradictions.size() > MAX_LINES) {
            out.println("     and " + (contradictions.size() - MAX_LINES) + " more");
        }
        out.flush();
    }

    private int cannotTell(String reason) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("hongbao: cannot tell: " + printable(reason));
        err.flush();
        return CANNOT_TELL;
    }

    /** What an input says must not steer the terminal. */
    private static String printable(String text) {
        String line = text.replaceAll("\\p{C}", "?");
        return line.length() <= MAX_LINE ? line : line.substring(0, MAX_LINE) + "…";
    }
}
