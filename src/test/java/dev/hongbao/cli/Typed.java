package dev.hongbao.cli;

import dev.hongbao.testing.TestServers;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine;

/** What a command line printed, and how it ended. */
public record Typed(int exit, String out, String err) {
    /** Types what follows a command's name. */
    static Typed after(Object command, String... words) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exit = new CommandLine(command)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(words);
        return new Typed(exit, out.toString(), err.toString());
    }

    /** Types a command that reads these stores, and serves nothing. */
    public static Typed on(TestServers stores, String... words) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        String[] line = Stream.concat(
                        Stream.of(words),
                        Stream.of(
                                "--redis-url", stores.redisUrl(),
                                "--postgres-url", stores.postgresAppUrl(),
                                "--postgres-owner-url", stores.postgresOwnerUrl()))
                .toArray(String[]::new);
        int exit = Hongbao.run(
                Map.of(),
                null,
                config -> {
                    throw new AssertionError("nothing is served");
                },
                new PrintWriter(out, true),
                new PrintWriter(err, true),
                line);
        return new Typed(exit, out.toString(), err.toString());
    }
}
