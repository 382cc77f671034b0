package dev.hongbao.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Prints the SQL that makes the database and its two roles. */
@Command(
        name = "roles",
        mixinStandardHelpOptions = true,
        description = "Prints the SQL for psql that makes the database and its two roles, the tables' owner and the"
                + " server's.")
final class RolesCommand implements Runnable {
    private static final String SQL = "db/roles.sql";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    static String sql() {
        try (InputStream in = RolesCommand.class.getClassLoader().getResourceAsStream(SQL)) {
            if (in == null) {
                throw new IllegalStateException("this jar lacks " + SQL);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }

    @Override
    public void run() {
        spec.commandLine().getOut().print(sql());
        spec.commandLine().getOut().flush();
    }
}
