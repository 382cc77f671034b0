package dev.hongbao.web.http;

import dev.hongbao.web.page.Gzip;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A long answer, a line for each value: CSV or JSON lines as the query's {@code format} asks, compressed for who accepts that, no faster
 * than the client takes it.
 */
final class LinesReply {
    /** Without it a spreadsheet takes the text for another encoding, and Chinese for noise. */
    private static final String BYTE_ORDER_MARK = "\uFEFF";

    private LinesReply() {}

    /** How values are written. @param header the first line of CSV, with its end */
    record Form<T>(String header, Function<T, String> csv, Function<T, String> json) {}

    /**
     * Writes as the values are read.
     *
     * @param read gives them page by page to what it is given, the next when that future is done
     */
    static <T> Future<Reply> write(
            Call call, Form<T> form, Function<Function<List<T>, Future<Void>>, Future<Void>> read) {
        boolean csv = "csv".equals(call.query().get("format"));
        String type = csv ? "text/csv; charset=utf-8; header=present" : "application/jsonl; charset=utf-8";
        String begin = csv ? BYTE_ORDER_MARK + form.header : "";
        Function<T, String> line = csv ? form.csv : form.json;
        HttpServerRequest request = call.exchange().request();
        HttpServerResponse response = request.response();
        Gzip zip = Gzip.isAccepted(request.getHeader(HttpHeaders.ACCEPT_ENCODING)) ? new Gzip() : null;
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
                    // Over HTTP/2 a stream that its client ends tells so in words of its own.
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
