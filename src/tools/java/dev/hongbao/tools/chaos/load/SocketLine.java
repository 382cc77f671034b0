package dev.hongbao.tools.chaos.load;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One WebSocket of one user. Asking is blocking, for one thread; what comes unasked is told on another. */
final class SocketLine implements AutoCloseable {
    private static final String ACCEPTED = "claim.accepted";

    private final WebSocket socket;
    private final Frames frames;
    private final AtomicLong ids = new AtomicLong();

    private SocketLine(WebSocket socket, Frames frames) {
        this.socket = socket;
        this.frames = frames;
    }

    /**
     * Connects; nobody is there yet, see {@link #ask}.
     *
     * @param unasked hears of each event and reset, in order, one at a time
     */
    static SocketLine open(HttpClient client, int port, Consumer<JsonObject> unasked) throws IOException {
        Frames frames = new Frames(unasked);
        WebSocket socket = await(client.newWebSocketBuilder()
                .subprotocols("hongbao.v1")
                .connectTimeout(Duration.ofMillis(Api.TIMEOUT_MILLIS))
                .buildAsync(URI.create("ws://127.0.0.1:" + port + "/v1/socket"), frames));
        return new SocketLine(socket, frames);
    }

    /**
     * Sends a frame and returns its answer, the settled one of a claim.
     *
     * @param frame gets an id
     * @throws IOException when the line ends before, or no answer comes in time
     */
    JsonObject ask(JsonObject frame) throws IOException {
        String id = Long.toString(ids.incrementAndGet());
        CompletableFuture<JsonObject> answer = new CompletableFuture<>();
        frames.asked.put(id, answer);
        try {
            await(socket.sendText(frame.put("id", id).encode(), true));
            return await(answer);
        } finally {
            frames.asked.remove(id);
        }
    }

    /** Sends a frame whose answer nobody waits for. */
    void tell(JsonObject frame) throws IOException {
        await(socket.sendText(frame.put("id", "told").encode(), true));
    }

    /** From now on nothing is read, or is again. */
    void read(boolean reads) {
        frames.read(socket, reads);
    }

    private static <T> T await(CompletableFuture<T> future) throws IOException {
        try {
            return future.get(Api.TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            throw new IOException("timeout", late);
        } catch (ExecutionException broken) {
            throw new IOException("broken", broken.getCause());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IOException("stopped", stopped);
        }
    }

    /** As who has lost his network: no word to the server, and nothing is heard any more. */
    @Override
    public void close() {
        socket.abort();
    }

    /** What comes. */
    private static final class Frames implements WebSocket.Listener {
        final ConcurrentHashMap<String, CompletableFuture<JsonObject>> asked = new ConcurrentHashMap<>();
        private final Consumer<JsonObject> unasked;
        private final StringBuilder text = new StringBuilder();
        private boolean reads = true;
        private boolean owed;

        Frames(Consumer<JsonObject> unasked) {
            this.unasked = unasked;
        }

        synchronized void read(WebSocket socket, boolean now) {
            reads = now;
            if (now && owed) {
                owed = false;
                socket.request(1);
            }
        }

        private synchronized void next(WebSocket socket) {
            if (reads) {
                socket.request(1);
            } else {
                owed = true;
            }
        }

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
            text.append(data);
            if (last) {
                String frame = text.toString();
                text.setLength(0);
                try {
                    take(new JsonObject(frame));
                } catch (DecodeException garbled) {
                    socket.abort();
                    fail(new IOException("not JSON", garbled));
                }
            }
            next(socket);
            return null;
        }

        private void take(JsonObject frame) {
            String id = frame.getString("id");
            CompletableFuture<JsonObject> answer = id == null ? null : asked.get(id);
            if (answer != null && !ACCEPTED.equals(frame.getString("type"))) {
                answer.complete(frame);
            }
            // Also an answer: it has the place in the feed from which events follow.
            unasked.accept(frame);
        }

        @Override
        public @Nullable CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
            fail(new IOException("closed " + code));
            return null;
        }

        @Override
        public void onError(WebSocket socket, Throwable error) {
            fail(new IOException(error));
        }

        private void fail(IOException why) {
            asked.values().forEach(each -> each.completeExceptionally(why));
        }
    }
}
