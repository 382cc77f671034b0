package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.check.Answer;
import dev.hongbao.tools.chaos.check.Call;
import dev.hongbao.tools.chaos.check.Call.Kind;
import dev.hongbao.tools.chaos.check.Operation;
import dev.hongbao.tools.chaos.check.Seen;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One of the crowd, over WebSockets: follows the group's feed from its last cursor, claims and sends, and sends some frames twice. After
 * some calls it vanishes without a close frame, and returns as another user, mostly at another server. Sometimes it reads nothing for a while.
 * Two threads: one asks, one receives.
 */
final class SocketClient {
    private static final AtomicLong STRETCHES = new AtomicLong();
    private static final int MOST_CALLS = 60;
    private static final int SLOW_MILLIS = 1_500;
    private static final int GONE_MILLIS = 300;

    private final HttpClient http = HttpClient.newHttpClient();
    private final World world;
    private final History history;
    private final SplittableRandom random;
    private final String name;
    private long commands;

    // by this object's lock
    private final List<Seen.Heard> heard = new ArrayList<>();
    private long stretch = STRETCHES.incrementAndGet();
    private @Nullable String cursor;
    private int line;

    /** @param name unique in the run: the idempotency keys begin with it */
    SocketClient(World world, SplittableRandom random, String name) {
        this.world = world;
        this.history = world.api.history();
        this.random = random;
        this.name = name;
    }

    /** One connection, for some calls. */
    void step() throws InterruptedException {
        String user = world.user(random);
        int server = world.server(random);
        JsonObject join = new JsonObject().put("type", "join").put("group", Api.GROUP);
        int number;
        synchronized (this) {
            number = ++line;
            if (cursor == null) {
                join.put("packets", 0);
            } else {
                join.put("after", cursor);
            }
        }
        try (SocketLine socket =
                SocketLine.open(http, world.api.port(server), world.api.token(user), frame -> hear(number, frame))) {
            socket.ask(join);
            int calls = 1 + random.nextInt(MOST_CALLS);
            for (int i = 0; i < calls && !world.isOver(); i++) {
                if (act(socket, user, server).answer().status() == 0) {
                    break;
                }
                if (random.nextInt(MOST_CALLS) == 0) {
                    socket.slow(random.nextInt(SLOW_MILLIS));
                }
                Crowd.pause(random, Crowd.PAUSE_MILLIS);
            }
        } catch (IOException away) {
            // it returns elsewhere
        }
        TimeUnit.MILLISECONDS.sleep(random.nextInt(GONE_MILLIS));
    }

    private Operation act(SocketLine socket, String user, int server) throws IOException {
        String packet = world.packet(random);
        boolean claims = !packet.isEmpty() && random.nextInt(10) > 0;
        Call call =
                claims ? Call.claim(user, packet, server) : world.send(random, user, name + "-" + ++commands, server);
        if (random.nextInt(8) == 0) {
            socket.tell(frame(call)); // twice, before there is an answer
        }
        return world.learn(history.perform(call, asked -> answer(socket, asked)));
    }

    private static JsonObject frame(Call call) {
        return call.kind() == Kind.CLAIM
                ? new JsonObject().put("type", "claim").put("packet", call.subject())
                : new JsonObject().put("type", "send").put("key", call.key()).put("packet", Api.packet(call));
    }

    private static Answer answer(SocketLine socket, Call call) {
        try {
            JsonObject answer = socket.ask(frame(call));
            switch (answer.getString("type")) {
                case "claim.settled" -> {
                    JsonObject claim = answer.getJsonObject("claim");
                    int status = answer.getBoolean("first") ? 201 : 200;
                    return Answer.claimed(status, claim.getInteger("slot"), claim.getLong("amount"));
                }
                case "sent" -> {
                    return Answer.made(201, answer.getJsonObject("packet").getString("id"), call.amount());
                }
                default -> {
                    JsonObject error = answer.getJsonObject("error");
                    String type = error.getString("type", "");
                    return Api.refused(
                            error.getInteger("status"),
                            type.substring(type.lastIndexOf('/') + 1),
                            error.containsKey("retryAfterSeconds"));
                }
            }
        } catch (IOException lost) {
            return Api.unanswered(lost);
        } catch (ClassCastException | NullPointerException garbled) {
            return Answer.unknown(-1, "an answer of another form");
        }
    }

    /** Takes a frame. @param of number of its connection: late frames of earlier ones do not count */
    private synchronized void hear(int of, JsonObject frame) {
        if (of != line) {
            return;
        }
        switch (frame.getString("type", "")) {
            case "joined" -> cursor = cursor == null ? frame.getString("cursor") : cursor;
            case "reset" -> {
                stretch = STRETCHES.incrementAndGet();
                cursor = frame.getString("cursor");
            }
            case "event" -> {
                JsonObject event = frame.getJsonObject("event");
                cursor = event.getString("cursor");
                String fact = event.getString("type") + " " + subject(event.getJsonObject("data"));
                heard.add(new Seen.Heard(stretch, Long.parseLong(cursor), fact, history.micros()));
            }
            default -> {
                // an answer
            }
        }
    }

    private static Object subject(JsonObject data) {
        for (String name : List.of("packet", "rain", "draw")) {
            if (data.containsKey(name)) {
                return data.getValue(name) instanceof JsonObject whole ? whole.getString("id") : data.getValue(name);
            }
        }
        return "";
    }

    synchronized List<Seen.Heard> heard() {
        return List.copyOf(heard);
    }
}
