package dev.hongbao.web.http;

import dev.hongbao.common.json.InvalidInputException;
import dev.hongbao.common.json.StrictJson;
import dev.hongbao.web.api.Operation;
import dev.hongbao.web.api.Problem;
import dev.hongbao.web.api.ProblemType;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Reads a request's body within its limits of size and time, and checks it against the contract. Only on its loop. */
final class BodyReader {
    private final Vertx vertx;
    private final int maxBytes;
    private final long timeoutMillis;

    BodyReader(Vertx vertx, HttpSettings settings) {
        this.vertx = vertx;
        this.maxBytes = settings.maxBodyBytes();
        this.timeoutMillis = settings.bodyTimeout().toMillis();
    }

    /**
     * Calls {@code then} with the body, null for none, once it is complete and fits the contract; otherwise the exchange is
     * answered. When the client goes away in the middle, nothing is called.
     */
    void read(Exchange exchange, Operation operation, Consumer<@Nullable JsonObject> then) {
        if (exchange.hasNoBody()) {
            accept(exchange, operation, Buffer.buffer(), then);
            return;
        }
        HttpServerRequest request = exchange.request();
        if (isDeclaredTooLarge(request.headers())) {
            exchange.refuseAndClose(tooLarge());
            return;
        }
        Reading reading = new Reading(exchange);
        reading.timer = vertx.setTimer(timeoutMillis, late -> reading.stop(Problem.of(ProblemType.REQUEST_TIMEOUT)));
        request.handler(reading::add);
        request.exceptionHandler(gone -> reading.finish());
        request.endHandler(end -> {
            if (reading.finish()) {
                accept(exchange, operation, reading.body, then);
            }
        });
    }

    private boolean isDeclaredTooLarge(MultiMap headers) {
        String length = headers.get(HttpHeaders.CONTENT_LENGTH);
        // Netty has refused a length that is no number.
        return length != null && (length.length() > 9 || Long.parseLong(length) > maxBytes);
    }

    private Problem tooLarge() {
        return Problem.of(ProblemType.PAYLOAD_TOO_LARGE, "Send at most " + maxBytes + " bytes.");
    }

    private final class Reading {
        private final Exchange exchange;
        private final Buffer body = Buffer.buffer();
        private long timer;
        private boolean finished;

        private Reading(Exchange exchange) {
            this.exchange = exchange;
        }

        private void add(Buffer piece) {
            if (body.length() + piece.length() > maxBytes) {
                stop(tooLarge());
            } else {
                body.appendBuffer(piece);
            }
        }

        private void stop(Problem problem) {
            if (finish()) {
                exchange.refuseAndClose(problem);
            }
        }

        /** True for the first who finishes it. */
        private boolean finish() {
            if (finished) {
                return false;
            }
            finished = true;
            vertx.cancelTimer(timer);
            return true;
        }
    }

    private static void accept(
            Exchange exchange, Operation operation, Buffer body, Consumer<@Nullable JsonObject> then) {
        try {
            if (body.length() > 0
                    && operation.body() != null
                    && !isJson(exchange.request().headers())) {
                exchange.refuse(Problem.of(ProblemType.UNSUPPORTED_MEDIA_TYPE), "Accept", "application/json");
                return;
            }
            then.accept(decode(operation, body));
        } catch (InvalidInputException invalid) {
            exchange.refuse(Problem.of(invalid));
        } catch (RuntimeException fault) {
            exchange.fail(fault);
        }
    }

    private static @Nullable JsonObject decode(Operation operation, Buffer body) {
        if (body.length() == 0) {
            if (operation.bodyRequired()) {
                throw InvalidInputException.of("#", "must be a JSON object; the body is empty");
            }
            return null;
        }
        if (operation.body() == null) {
            throw InvalidInputException.of("#", "is not allowed; this call takes no body");
        }
        JsonObject json = StrictJson.COMMAND.decode(body.getBytes());
        operation.body().check(json, "#");
        return json;
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
