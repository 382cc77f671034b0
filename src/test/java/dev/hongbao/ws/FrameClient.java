package dev.hongbao.ws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.hongbao.http.AnswerFrames;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A client of the socket for tests, whatever implements the WebSocket below. Called from the test's thread. */
abstract class FrameClient implements AutoCloseable {
    static final long LIMIT_SECONDS = 10;

    private final BlockingQueue<JsonObject> arrived = new LinkedBlockingQueue<>();
    private final List<JsonObject> passedOver = new ArrayList<>();
    private final CompletableFuture<Integer> closed = new CompletableFuture<>();
    private int nextId = 1;

    /** What an error frame names: the end of its problem's type. */
    static String kind(JsonObject error) {
        assertThat(error.getString("type")).as(error.encode()).isEqualTo("error");
        String type = error.getJsonObject("error").getString("type");
        return type.substring(type.lastIndexOf('/') + 1);
    }

    /** Opens connections. */
    interface Opener {
        FrameClient open(URI base);
    }

    /** Sends a text message as it is. */
    abstract void sendText(String text);

    /** Cuts the line without a word. */
    abstract void drop();

    void arrived(String text) {
        arrived.add(new JsonObject(text));
    }

    void closedWith(int code) {
        closed.complete(code);
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

    boolean isClosed() {
        return closed.isDone();
    }

    @Override
    public void close() {
        drop();
    }
}
