package dev.hongbao.engine.embedded;

import java.nio.file.Path;

/** Another server, in this JVM or in another one, owns the data directory. */
public final class DataDirectoryInUseException extends EmbeddedStartException {
    private static final long serialVersionUID = 1L;

    DataDirectoryInUseException(Path directory) {
        super("the data directory " + directory + " is in use by another server; stop that one or choose another"
                + " directory");
    }
}
