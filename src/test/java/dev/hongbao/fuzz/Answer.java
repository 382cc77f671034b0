package dev.hongbao.fuzz;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An answer as it came. @param headers by name in lower case; of several with one name the last */
record Answer(int status, Map<String, String> headers, String body) {
    @Nullable
    String header(String name) {
        return headers.get(name);
    }

    /** Whether nothing more comes on this connection. */
    boolean isLast() {
        return "close".equalsIgnoreCase(headers.get("connection"));
    }
}
