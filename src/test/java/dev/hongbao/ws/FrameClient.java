package dev.hongbao.ws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.AnswerFrames;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A client of the socket for tests, on the JDK's WebSocket: that shares no code with the server's. Called from the test's thread. */
final class FrameClient implements AutoCloseable, WebSocket.Listener {
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final long LIMIT_SECONDS = 10;

    private final StringBuilder text = new StringBuilder();
    private final BlockingQueue<JsonObject> arrived = new LinkedBlockingQueue<>();
    private final List<JsonObject> passedOver = new ArrayList<>();
    private final CompletableFuture<Integer> closed = new CompletableFuture<>();
    private WebSocket socket;
    private int nextId = 1;

    /** @param headers names and values */
    static FrameClient open(URI base, String... headers) {
        FrameClient client = new FrameClient();
        WebSocket.Builder builder = HTTP.newWebSocketBuilder().subprotocols("hongbao.v1");
        for (int i = 0; i < headers.length; i += 2) {
            builder.header(headers[i], headers[i + 1]);
        }
        client.socket = builder.buildAsync(URI.create("ws://" + base.getAuthority() + "/v1/socket"), client)
                .orTimeout(LIMIT_SECONDS, TimeUnit.SECONDS)
                .join();
        assertThat(client.socket.getSubprotocol()).isEqualTo("hongbao.v1");
        return client;
    }

    /** What an error frame names: the end of its problem's type. */
    static String kind(JsonObject error) {
        assertThat(error.getString("type")).as(error.encode()).isEqualTo("error");
        String type = error.getJsonObject("error").getString("type");
        return type.substring(type.lastIndexOf('/') + 1);
    }

    /** Sends a text message as it is. A closed connection takes no more: {@link #closeCode} tells why. */
    void sendText(String message) {
        socket.sendText(message, true).exceptionally(closed -> socket).join();
    }

    void sendBinary(byte[] bytes) {
        socket.sendBinary(ByteBuffer.wrap(bytes), true).join();
    }

    /** Cuts the line without a word. */
    void drop() {
        socket.abort();
    }

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
        text.append(data);
        if (last) {
            arrived.add(new JsonObject(text.toString()));
            text.setLength(0);
        }
        from.request(1);
        return null;
    }

    @Override
    public CompletionStage<?> onClose(WebSocket from, int code, String reason) {
        closed.complete(code);
        return null;
    }

    @Override
    public void onError(WebSocket from, Throwable fault) {
        closed.complete(1006);
    }

    /** Sends a request with an id of its own. @return the id */
    String request(String type, JsonObject fields) {
        String id = "r" + nextId++;
        sendText(fields.copy().put("type", type).put("id", id).encode());
        return id;
    }

    /** Sends a request and waits for the next frame that repeats its id. */
    JsonObject ask(String type, JsonObject fields) {
        return answer(request(type, fields));
    }

    JsonObject answer(String id) {
        return await(frame -> id.equals(frame.getString("id")));
    }

    JsonObject authenticate(String token) {
        return ask("auth", new JsonObject().put("token", token));
    }

    JsonObject join(String group) {
        return ask("join", new JsonObject().put("group", group));
    }

    JsonObject join(String group, String after) {
        return ask("join", new JsonObject().put("group", group).put("after", after));
    }

    JsonObject frame(String type) {
        return await(frame -> frame.getString("type").equals(type));
    }

    JsonObject event(String type) {
        return await(frame -> frame.getString("type").equals("event")
                        && frame.getJsonObject("event").getString("type").equals(type))
                .getJsonObject("event");
    }

    /** Frames of this type that came before the last one that was waited for, and that nobody waited for. */
    long passedOver(String type) {
        return passedOver.stream()
                .filter(frame -> frame.getString("type").equals(type))
                .count();
    }

    /** The next frame that fits; those passed over wait for a later call. */
    JsonObject await(Predicate<JsonObject> wanted) {
        for (JsonObject frame : passedOver) {
            if (wanted.test(frame)) {
                passedOver.remove(frame);
                return frame;
            }
        }
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (true) {
            JsonObject frame = poll(deadline - System.nanoTime());
            if (frame == null) {
                throw new AssertionError("no such frame; there were " + passedOver + ", closed: " + closed);
            }
            if (wanted.test(frame)) {
                return frame;
            }
            passedOver.add(frame);
        }
    }

    /** The next frame, whatever it is, checked against asyncapi.yaml; null when none comes in time. */
    JsonObject poll(long nanos) {
        try {
            JsonObject frame = arrived.poll(nanos, TimeUnit.NANOSECONDS);
            if (frame != null) {
                AnswerFrames.check(frame);
            }
            return frame;
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    /** Waits for the server to close the connection. @return the close code */
    int closeCode() {
        try {
            return closed.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (Exception late) {
            throw new AssertionError("not closed", late);
        }
    }

    @Override
    public void close() {
        socket.sendClose(WebSocket.NORMAL_CLOSURE, "")
                .exceptionally(gone -> socket)
                .join();
    }
}
