package dev.hongbao.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The TCP sockets of this machine, as Linux lists them. */
public final class Sockets {
    private static final Set<String> FIN_WAIT = Set.of("04", "05");

    private Sockets() {}

    /** Sockets to a local port that said their last word, and that a process still holds. */
    public static List<String> halfClosedTo(int port) {
        String remote = String.format(":%04X", port);
        return Stream.of("tcp", "tcp6")
                .flatMap(table -> lines(Path.of("/proc/self/net", table)))
                .filter(line -> {
                    String[] columns = line.strip().split(" +");
                    return columns[2].endsWith(remote) && FIN_WAIT.contains(columns[3]) && !columns[9].equals("0");
                })
                .toList();
    }

    private static Stream<String> lines(Path table) {
        try {
            return Files.readAllLines(table).stream();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
