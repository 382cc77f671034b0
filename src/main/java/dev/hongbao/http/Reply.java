package dev.hongbao.http;

import io.vertx.core.buffer.Buffer;
import java.util.List;

/**
 * An answer before it is written.
 *
 * @param headers name, value, name, value …
 */
record Reply(int status, String contentType, Buffer body, List<String> headers) {
    static final String JSON = "application/json";
    static final String PROBLEM = "application/problem+json";

    /** @param headers name, value, name, value … */
    static Reply json(int status, String json, String... headers) {
        return new Reply(status, JSON, Buffer.buffer(json), List.of(headers));
    }
}
