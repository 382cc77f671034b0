package dev.hongbao.http;

import dev.hongbao.http.PageFiles.PageFile;
import dev.hongbao.values.Metadata;
import io.vertx.core.Future;
import io.vertx.core.VertxException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
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

    /**
     * A streamed answer, one line per value: CSV or JSON lines by the query's {@code format}, compressed if accepted, no faster than
     * the client reads.
     */
    public static final class LinesReply {
        /** Without it, a spreadsheet misreads the encoding and garbles Chinese. */
        private static final String BYTE_ORDER_MARK = "\uFEFF";

        /** Stops the reading for a HEAD. */
        private static final Throwable HEAD_IS_KNOWN = VertxException.noStackTrace("the head is known");

        private LinesReply() {}

        /** Whether the request wants CSV, by {@code format}. */
        public static boolean isCsv(Call call) {
            return "csv".equals(call.query("format"));
        }

        private static final String END = "\r\n";

        /** A cell of CSV (RFC 4180), quoted if necessary. A leading apostrophe keeps a spreadsheet from running the text as a formula. */
        public static String cell(String text) {
            String safe = !text.isEmpty() && "=+-@\t\r".indexOf(text.charAt(0)) >= 0 ? "'" + text : text;
            boolean quoted = safe.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
            return quoted ? '"' + safe.replace("\"", "\"\"") + '"' : safe;
        }

        /** The two formats of a value. @param header the first line of CSV, with its end */
        public record Form<T>(String header, Function<T, String> csv, Function<T, String> json) {
            /** Appends the export's metadata as the last column of each CSV line; an empty cell if there is none. */
            public Form<T> with(Metadata metadata) {
                String cell = "," + (metadata.isEmpty() ? "" : cell(metadata.json())) + END;
                return new Form<>(more(header, ",metadata" + END), value -> more(csv.apply(value), cell), json);
            }

            private static String more(String line, String cell) {
                return line.isEmpty() ? "" : line.substring(0, line.length() - END.length()) + cell;
            }
        }

        /** Streams the values. @param read passes them page by page to its argument, each page after the previous future completes */
        public static <T> Future<Reply> write(
                Call call, Form<T> form, Function<Function<List<T>, Future<Void>>, Future<Void>> read) {
            boolean csv = isCsv(call);
            String type = csv ? "text/csv; charset=utf-8; header=present" : "application/jsonl; charset=utf-8";
            String begin = csv ? BYTE_ORDER_MARK + form.header : "";
            Function<T, String> line = csv ? form.csv : form.json;
            HttpServerRequest request = call.exchange().request();
            HttpServerResponse response = request.response();
            Gzip zip = Gzip.isAccepted(request.getHeader(HttpHeaders.ACCEPT_ENCODING)) ? new Gzip() : null;
            if (call.exchange().isHead()) {
                // A HEAD is refused as its GET would be, and reads only the first page.
                return read.apply(page -> Future.failedFuture(HEAD_IS_KNOWN))
                        .recover(
                                fault -> fault == HEAD_IS_KNOWN ? Future.succeededFuture() : Future.failedFuture(fault))
                        .map(known -> reply(type, zip, Buffer.buffer()));
            }
            return read.apply(page -> {
                        if (response.closed()) {
                            return Future.failedFuture(gone());
                        }
                        StringBuilder lines = new StringBuilder();
                        if (!response.headWritten()) {
                            call.exchange().begin(reply(type, zip, Buffer.buffer()));
                            lines.append(begin);
                        }
                        page.forEach(value -> lines.append(line.apply(value)));
                        // Over HTTP/2, a stream that the client ends fails with another exception.
                        return call.exchange()
                                .writer()
                                .write(piece(zip, lines.toString()))
                                .recover(unread -> Future.failedFuture(gone()));
                    })
                    .map(done -> {
                        Buffer last = piece(zip, response.headWritten() ? "" : begin);
                        return reply(type, zip, zip == null ? last : last.appendBuffer(zip.end()));
                    });
        }

        private static HttpClosedException gone() {
            return new HttpClosedException("the client is gone");
        }

        private static Buffer piece(@Nullable Gzip zip, String text) {
            return zip == null ? Buffer.buffer(text) : zip.add(text);
        }

        private static Reply reply(String type, @Nullable Gzip zip, Buffer body) {
            List<String> headers = zip == null ? List.of("Vary", "Accept-Encoding") : Gzip.HEADERS;
            return new Reply(200, type, body, headers, null, null);
        }
    }
}
