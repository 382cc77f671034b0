package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.history.Answer;
import dev.hongbao.tools.chaos.history.Call;
import dev.hongbao.tools.chaos.history.Call.Kind;
import dev.hongbao.tools.chaos.history.Heard;
import dev.hongbao.tools.chaos.history.History;
import dev.hongbao.tools.chaos.history.Operation;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.http.HttpClient;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One of the crowd, over WebSockets: follows the group from where it was, claims and sends, and says some things twice. A line lasts for some
 * calls; then its client vanishes without a word, and comes back as somebody else, mostly elsewhere. Sometimes it reads nothing for a while.
 */
final class SocketClient implements Runnable {
    private static final int MOST_CALLS = 60;
    private static final int SLOW_MILLIS = 1_500;
    private static final int GONE_MILLIS = 300;

    private final World world;
    private final History history;
    private final Lines lines;
    private final SplittableRandom random;
    private final String name;
    private final int pauseMillis;
    private final Ear ear;
    private long commands;

    /** How a user gets to a server. */
    interface Lines {
        /** Connected and authenticated. */
        SocketLine open(HttpClient client, int server, String user, Consumer<JsonObject> unasked) throws IOException;
    }

    /** As of {@link SimulatedClient}. */
    SocketClient(World world, History history, Lines lines, SplittableRandom random, String name, int pauseMillis) {
        this.world = world;
        this.history = history;
        this.lines = lines;
        this.random = random;
        this.name = name;
        this.pauseMillis = pauseMillis;
        this.ear = new Ear(history::micros);
    }

    @Override
    public void run() {
        HttpClient client = HttpClient.newHttpClient();
        try {
            while (!world.isStopping() && !history.isFull()) {
                stay(client, world.user(random), world.server(random));
                TimeUnit.MILLISECONDS.sleep(random.nextInt(GONE_MILLIS));
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    /** What it has heard of the group. */
    List<Heard> heard() {
        return ear.heard();
    }

    private void stay(HttpClient client, String user, int server) throws InterruptedException {
        int number = ear.nextLine();
        try (SocketLine line = lines.open(client, server, user, frame -> ear.hear(number, frame))) {
            JsonObject join = new JsonObject().put("type", "join").put("group", Api.GROUP);
            String cursor = ear.cursor();
            line.ask(cursor == null ? join.put("packets", 0) : join.put("after", cursor));
            int calls = 1 + random.nextInt(MOST_CALLS);
            for (int i = 0; i < calls && !world.isStopping(); i++) {
                Operation done = act(line, user, server);
                if (done.answer().status() == 0) {
                    return;
                }
                if (random.nextInt(MOST_CALLS) == 0) {
                    line.read(false);
                    TimeUnit.MILLISECONDS.sleep(random.nextInt(SLOW_MILLIS));
                    line.read(true);
                }
                TimeUnit.MILLISECONDS.sleep(random.nextInt(2 * pauseMillis + 1));
            }
        } catch (IOException away) {
            // it comes back elsewhere
        }
    }

    private Operation act(SocketLine line, String user, int server) throws IOException {
        String packet = world.packet(random);
        boolean claims = !packet.isEmpty() && random.nextInt(10) > 0;
        Call call =
                claims ? Call.claim(user, packet, server) : world.send(random, user, name + "-" + ++commands, server);
        if (random.nextInt(8) == 0) {
            line.tell(frame(call)); // and again, before there is an answer
        }
        Operation operation = history.perform(call, asked -> answer(line, asked));
        world.learn(operation);
        return operation;
    }

    private static JsonObject frame(Call call) {
        return call.kind() == Kind.CLAIM
                ? new JsonObject().put("type", "claim").put("packet", call.subject())
                : new JsonObject().put("type", "send").put("key", call.key()).put("packet", Api.packet(call));
    }

    private static Answer answer(SocketLine line, Call call) {
        try {
            return judge(call, line.ask(frame(call)));
        } catch (IOException broken) {
            return Answer.unknown(0, String.valueOf(broken.getMessage()));
        } catch (ClassCastException | NullPointerException garbled) {
            return Answer.unknown(-1, "an answer of another form");
        }
    }

    private static Answer judge(Call call, JsonObject answer) {
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
                return Api.refused(error.getInteger("status"), error, error.containsKey("retryAfterSeconds"));
            }
        }
    }
}
