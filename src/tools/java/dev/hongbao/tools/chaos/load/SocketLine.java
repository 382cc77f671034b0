package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.local.ApiClient;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One WebSocket of one user. Asking blocks, for one thread; frames arrive on another. */
final class SocketLine implements WebSocket.Listener, AutoCloseable {
    private static final String ACCEPTED = "claim.accepted";

    private final Consumer<JsonObject> frames;
    private final Map<String, CompletableFuture<JsonObject>> asked = new ConcurrentHashMap<>();
    private final StringBuilder text = new StringBuilder();
    private long ids;

    @SuppressWarnings("NullAway.Init") // open() sets it
    private WebSocket socket;

    private volatile long slowMillis;

    private SocketLine(Consumer<JsonObject> frames) {
        this.frames = frames;
    }

    /**
     * Connects and authenticates.
     *
     * @param frames gets every frame, in order, one at a time
     */
    static SocketLine open(HttpClient http, int port, String token, Consumer<JsonObject> frames) throws IOException {
        SocketLine line = new SocketLine(frames);
        line.socket = await(http.newWebSocketBuilder()
                .subprotocols("hongbao.v1")
                .connectTimeout(Api.LIMIT)
                .buildAsync(URI.create("ws://127.0.0.1:" + port + "/v1/socket"), line));
        try {
            line.ask(new JsonObject().put("type", "auth").put("token", token));
            return line;
        } catch (IOException refused) {
            line.close();
            throw refused;
        }
    }

    /**
     * @param frame gets an id
     * @return its answer: of a claim the settled one
     * @throws IOException if the connection ends first, or no answer comes in time
     */
    JsonObject ask(JsonObject frame) throws IOException {
        String id = Long.toString(++ids);
        CompletableFuture<JsonObject> answer = new CompletableFuture<>();
        asked.put(id, answer);
        try {
            await(socket.sendText(frame.put("id", id).encode(), true));
            return await(answer);
        } finally {
            asked.remove(id);
        }
    }

    /** Sends a frame without waiting for its answer. */
    void tell(JsonObject frame) throws IOException {
        await(socket.sendText(frame.put("id", "told").encode(), true));
    }

    /** Reads nothing for a while after the next frame. */
    void slow(long millis) {
        slowMillis = millis;
    }

    private static <T> T await(CompletableFuture<T> future) throws IOException {
        return ApiClient.await(future, Api.LIMIT);
    }

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
        text.append(data);
        if (last) {
            String frame = text.toString();
            text.setLength(0);
            try {
                take(new JsonObject(frame));
            } catch (DecodeException garbled) {
                from.abort();
                fail(new IOException("not JSON", garbled));
            }
        }
        long slow = slowMillis;
        slowMillis = 0;
        if (slow > 0) {
            CompletableFuture.delayedExecutor(slow, TimeUnit.MILLISECONDS).execute(() -> from.request(1));
        } else {
            from.request(1);
        }
        return null;
    }

    private void take(JsonObject frame) {
        String id = frame.getString("id");
        CompletableFuture<JsonObject> answer = id == null ? null : asked.get(id);
        if (answer != null && !ACCEPTED.equals(frame.getString("type"))) {
            answer.complete(frame);
        }
        frames.accept(frame); // an answer, too: that to a join has a cursor
    }

    @Override
    public @Nullable CompletionStage<?> onClose(WebSocket from, int code, String reason) {
        fail(new IOException("closed " + code));
        return null;
    }

    @Override
    public void onError(WebSocket from, Throwable error) {
        fail(new IOException(error));
    }

    private void fail(IOException why) {
        asked.values().forEach(each -> each.completeExceptionally(why));
    }

    /** As after the loss of the network: without a close frame. */
    @Override
    public void close() {
        socket.abort();
    }
}
