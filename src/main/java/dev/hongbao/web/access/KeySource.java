package dev.hongbao.web.access;

import java.io.IOException;
import java.util.List;

/**
 * A source of verification keys.
 *
 * @param name the option and the place, for the operator; without secrets
 * @param isRemote whether another machine serves them, which may be unreachable when this server starts
 * @param reader reads them
 */
public record KeySource(String name, boolean isRemote, Reader reader) {
    /** Reads all keys of the source anew. May block. */
    public interface Reader {
        /**
         * At least one key.
         *
         * @throws IOException when the source cannot be read
         * @throws IllegalArgumentException when it holds no key that can be used
         */
        List<VerificationKey> read() throws IOException;
    }
}
