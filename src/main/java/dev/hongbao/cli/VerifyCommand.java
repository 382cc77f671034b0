package dev.hongbao.cli;

import dev.hongbao.fairness.Evidence;
import dev.hongbao.values.InvalidInputException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.SequenceInputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
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
 * {@code verify}: recomputes a closed packet or draw, or a rain that is over, from its seed. Needs no server and no store. Exits
 * with 0 for yes, with 1 for no, and with 2 and one line on standard error if there is no answer.
 */
@Command(
        name = "verify",
        mixinStandardHelpOptions = true,
        description = {
            "Recomputes all shares of a closed packet, all plays of a closed draw, or all moments of a rain that is over,"
                    + " from its seed, offline. Prints yes or no.",
            "FILE holds the server's answers, one after another.",
            "A packet: GET /v1/packets/{packet}, then all pages of GET /v1/packets/{packet}/claims.",
            "A draw: GET /v1/draws/{draw} with the service role, then GET /v1/draws/{draw}/export?format=jsonl.",
            "A rain: GET /v1/rains/{rain}.",
            "Exit code 0 for yes, 1 for no, 2 for no answer: the input is malformed, or the packet, draw or rain"
                    + " is not over."
        })
final class VerifyCommand implements Callable<Integer> {
    private static final int CANNOT_TELL = 2;

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
            description = "The commitment published before: it must still be the same.")
    private @Nullable String commitment;

    @Override
    public Integer call() {
        if (commitment != null && !DIGEST.matcher(commitment).matches()) {
            return cannotTell("--commitment is 64 hexadecimal digits");
        }
        Evidence.Proof proof;
        try (InputStream all = open()) {
            proof = Evidence.read(all);
        } catch (IOException | InvalidPathException unreadable) {
            return cannotTell(Failure.describe(unreadable));
        } catch (InvalidInputException fault) {
            return cannotTell(fault.faults().get(0).toString());
        }
        List<String> contradictions = new ArrayList<>(proof.contradictions());
        if (commitment != null && !commitment.equalsIgnoreCase(proof.commitment())) {
            contradictions.add(0, "the commitment told before was " + commitment + ", now it is " + proof.commitment());
        }
        print(proof, contradictions);
        return contradictions.isEmpty() ? spec.exitCodeOnSuccess() : 1;
    }

    /** All files, one after the other. */
    private InputStream open() throws IOException {
        List<InputStream> all = new ArrayList<>();
        for (String file : files) {
            all.add(file.equals("-") ? System.in : Files.newInputStream(Path.of(file)));
        }
        return new SequenceInputStream(Collections.enumeration(all));
    }

    private void print(Evidence.Proof proof, List<String> contradictions) {
        PrintWriter out = spec.commandLine().getOut();
        out.println((contradictions.isEmpty() ? "yes" : "NO ") + "  " + proof.subject());
        if (contradictions.isEmpty()) {
            proof.shown().forEach(line -> out.println("     " + line));
            if (commitment == null) {
                out.println("     is it the commitment that you saw before? " + proof.commitment());
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

    /** Replaces control characters, so that an input cannot steer the terminal. */
    private static String printable(String text) {
        String line = text.replaceAll("\\p{C}", "?");
        return line.length() <= MAX_LINE ? line : line.substring(0, MAX_LINE) + "…";
    }
}
