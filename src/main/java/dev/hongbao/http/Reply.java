package dev.hongbao.http;

import dev.hongbao.http.PageFiles.PageFile;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An answer before it is written.
 *
 * @param headers name, value, name, value …
 * @param tag the body's entity tag; null for an answer that is not cached
 * @param problem rendered in the reader's language; null for a reply that has its body already
 */
public record Reply(
        int status,
        String contentType,
        Buffer body,
        List<String> headers,
        @Nullable String tag,
        @Nullable Problem problem) {
    static final String JSON = "application/json";
    static final String PROBLEM = "application/problem+json";

    /** A refusal, whose body is made for its reader: see {@link #in}. @param headers name, value, name, value … */
    public static Reply problem(Problem problem, String... headers) {
        return new Reply(problem.type().status(), PROBLEM, Buffer.buffer(), List.of(headers), null, problem);
    }

    /** Null unless this reply is a problem. */
    @Nullable
    ProblemType problemType() {
        return problem == null ? null : problem.type();
    }

    /** Renders a problem in this language; other replies stay as they are. */
    Reply in(Language language) {
        return problem == null
                ? this
                : new Reply(
                        status, contentType, Problem.Told.of(problem, language).document(), headers, tag, problem);
    }

    /** Adds the request's id to a problem. @param request letters, digits, dots and dashes only */
    Reply of(String request) {
        if (problem == null) {
            return this;
        }
        Buffer named = Buffer.buffer(body.length() + 96)
                .appendBuffer(body, 0, body.length() - 1)
                .appendString(",\"requestId\":\"")
                .appendString(request)
                .appendString("\"}");
        return new Reply(status, contentType, named, headers, tag, problem);
    }

    /** @param headers name, value, name, value … */
    public static Reply json(int status, String json, String... headers) {
        return of(status, JSON, json, headers);
    }

    /** @param headers name, value, name, value … */
    public static Reply of(int status, String contentType, String body, String... headers) {
        return new Reply(status, contentType, Buffer.buffer(body), List.of(headers), null, null);
    }

    /** A viewer's own answer, with an entity tag for repeated reads. */
    public static Reply kept(String json) {
        Buffer body = Buffer.buffer(json);
        List<String> headers = List.of("Cache-Control", "private, no-cache", "Vary", "Authorization");
        return new Reply(200, JSON, body, headers, PageFile.tag(body), null);
    }

    static Reply file(PageFiles.Sent sent) {
        PageFile file = sent.file();
        return new Reply(200, file.type(), file.bytes(), sent.headers(), file.tag(), null);
    }

    /** A copy with one more header. */
    Reply with(String header, String value) {
        List<String> more =
                Stream.concat(headers.stream(), Stream.of(header, value)).toList();
        return new Reply(status, contentType, body, more, tag, problem);
    }

    /** A copy with the base path in its Location. @param basePath empty for none */
    Reply below(String basePath) {
        int location = headers.indexOf("Location");
        if (basePath.isEmpty() || location < 0) {
            return this;
        }
        List<String> more = new ArrayList<>(headers);
        more.set(location + 1, basePath + headers.get(location + 1));
        return new Reply(status, contentType, body, more, tag, problem);
    }

    /** This reply, or 304 if the caller holds it (RFC 9110, 13.1.2). */
    Reply unlessHeldBy(RoutingContext caller) {
        if (tag == null || !caller.etag(tag).isFresh()) {
            return this;
        }
        return new Reply(304, "", Buffer.buffer(), headers, tag, null);
    }
}
