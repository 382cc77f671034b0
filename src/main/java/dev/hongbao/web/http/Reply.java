package dev.hongbao.web.http;

import dev.hongbao.web.api.Problem;
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
    static Reply problem(Problem problem, String... headers) {
        return new Reply(problem.type().status(), PROBLEM, Buffer.buffer(problem.toJson()), List.of(headers));
    }

    /** @param headers name, value, name, value … */
    static Reply json(int status, String json, String... headers) {
        return new Reply(status, JSON, Buffer.buffer(json), List.of(headers));
    }
}
