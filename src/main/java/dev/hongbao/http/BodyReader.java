package dev.hongbao.http;

import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.StrictJson;
import dev.hongbao.values.Text;
import io.netty.handler.codec.DecoderException;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.handler.HttpException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a request's body with Vert.x Web's BodyHandler, adds a time limit, reads no body as a form, and checks the body against
 * the contract. A refusal fails the routing with 408, 413 or 415. Confined to its event loop.
 */
final class BodyReader {
    private static final Logger LOG = LoggerFactory.getLogger(BodyReader.class);
    private static final String TIMER = "body-timer";

    /** Bytes of {@code null} with some whitespace. */
    private static final int MAX_NULL = 16;

    private final BodyHandler handler;
    private final long timeoutMillis;

    BodyReader(HttpSettings settings) {
        this.handler = BodyHandler.create(false).setBodyLimit(settings.maxBodyBytes());
        this.timeoutMillis = settings.timeouts().body().toMillis();
    }

    /** Reads the body, then continues with the route; not if the client leaves before its end. */
    void read(RoutingContext routing) {
        HttpServerRequest request = routing.request();
        if (isForm(request.headers())) {
            routing.fail(415);
        } else {
            // The server has answered Expect already; the handler would answer again, and refuse other expectations.
            request.headers().remove(HttpHeaders.EXPECT);
            routing.put(TIMER, routing.vertx().setTimer(timeoutMillis, late -> {
                if (!request.isEnded() && !request.response().ended()) {
                    routing.fail(408);
                }
            }));
            handler.handle(routing);
            if (!routing.failed()) {
                request.exceptionHandler(failure -> broken(routing, failure));
            }
        }
    }

    /** Treats a failed request as the fault of its client or connection, whatever exception Vert.x reports. */
    private static void broken(RoutingContext routing, Throwable failure) {
        if (failure instanceof DecoderException && !routing.request().isEnded()) {
            routing.fail(400, failure);
        } else if (failure instanceof Error) {
            routing.fail(failure);
        } else {
            LOG.debug("a request broke", failure);
            routing.fail(new HttpClosedException("the request broke"));
        }
    }

    /**
     * The body that was read; null for none.
     *
     * @throws InvalidInputException when it is not what the contract says
     */
    @Nullable
    JsonObject json(RoutingContext routing, Operation operation) {
        Long timer = routing.get(TIMER);
        if (timer == null) {
            return decode(operation, null);
        }
        routing.vertx().cancelTimer(timer);
        Buffer body = routing.body().buffer();
        boolean isEmpty = body == null || body.length() == 0;
        if (!isEmpty && operation.body() != null && !isJson(routing.request().headers())) {
            throw new HttpException(415);
        }
        return decode(operation, isEmpty ? null : body);
    }

    /** Whether the body is {@code null}, as generated clients send an absent body. */
    private static boolean isNull(Buffer body) {
        return body.length() <= MAX_NULL && body.toString().strip().equals("null");
    }

    private static @Nullable JsonObject decode(Operation operation, @Nullable Buffer body) {
        Operation.Body expected = operation.body();
        if (body == null || isNull(body)) {
            if (expected != null && expected.required()) {
                throw InvalidInputException.of("#", Text.of("body.none-given"));
            }
            return null;
        }
        if (expected == null) {
            throw InvalidInputException.of("#", Text.of("body.none-allowed"));
        }
        JsonObject json = StrictJson.COMMAND.decode(body.getBytes());
        expected.schema().check(json, "#");
        return json;
    }

    /** Whether the request has no body at all, so that nothing needs to be read. */
    static boolean isAbsent(HttpServerRequest request) {
        MultiMap headers = request.headers();
        String length = headers.get(HttpHeaders.CONTENT_LENGTH);
        if (length == null && request.version() == HttpVersion.HTTP_2) {
            // Over HTTP/2 a body may come without a header.
            return request.method().equals(HttpMethod.GET) || request.method().equals(HttpMethod.HEAD);
        }
        return (length == null || length.equals("0")) && !headers.contains(HttpHeaders.TRANSFER_ENCODING);
    }

    /** BodyHandler's own test for forms, which it would parse. */
    private static boolean isForm(MultiMap headers) {
        String type = headers.get(HttpHeaders.CONTENT_TYPE);
        if (type == null) {
            return false;
        }
        String lower = type.toLowerCase(Locale.ROOT);
        return lower.startsWith("multipart/form-data") || lower.startsWith("application/x-www-form-urlencoded");
    }

    private static boolean isJson(MultiMap headers) {
        if (headers.contains(HttpHeaders.CONTENT_ENCODING)) {
            return false;
        }
        String type = headers.get(HttpHeaders.CONTENT_TYPE);
        if (type == null) {
            return false;
        }
        String[] parts = type.toLowerCase(Locale.ROOT).split(";", -1);
        for (int i = 1; i < parts.length; i++) {
            String parameter = parts[i].strip();
            if (parameter.startsWith("charset=") && !parameter.replace("\"", "").equals("charset=utf-8")) {
                return false;
            }
        }
        return parts[0].strip().equals("application/json");
    }
}
