package dev.hongbao.tools.chaos.load;

import dev.hongbao.tools.chaos.history.Answer;
import dev.hongbao.tools.chaos.history.Call;
import dev.hongbao.tools.chaos.history.History;
import dev.hongbao.tools.chaos.history.Operation;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The calls of one simulated client to all servers, each kept in the history. Confined to one thread; blocking. */
public final class Api implements AutoCloseable {
    /** The group of all users. */
    public static final String GROUP = "chaos";

    /** A server that has not answered by then has failed its client. */
    public static final int TIMEOUT_MILLIS = 15_000;

    private static final long PAUSE_MILLIS = 100;
    private static final String ASSET = "CNY";

    private final History history;
    private final UserTokens tokens;
    private final List<Wire> wires = new ArrayList<>();
    private final List<Integer> ports;
    private final String service;

    /** @param ports of the servers, or of what is before them */
    public Api(History history, UserTokens tokens, List<Integer> ports) {
        this.history = history;
        this.tokens = tokens;
        this.ports = ports;
        ports.forEach(port -> wires.add(new Wire(port, TIMEOUT_MILLIS)));
        this.service = "Authorization: Bearer " + tokens.service() + "\r\n";
    }

    /** Makes the call; returns when it is answered, or is given up. Never throws for what a server or the network does. */
    public Operation perform(Call call) {
        return history.perform(call, this::answer);
    }

    private Answer answer(Call call) {
        try {
            return judge(call, ask(call));
        } catch (SocketTimeoutException late) {
            return Answer.unknown(0, "timeout");
        } catch (IOException broken) {
            return Answer.unknown(0, "broken");
        } catch (DecodeException | ClassCastException | NullPointerException garbled) {
            return Answer.unknown(-1, "an answer of another form");
        }
    }

    private Wire.Response ask(Call call) throws IOException {
        Wire wire = wires.get(call.server());
        String key = "Idempotency-Key: " + call.key() + "\r\n";
        String account = "/v1/accounts/" + call.user();
        String money = new JsonObject()
                .put("asset", ASSET)
                .put("amount", call.amount())
                .encode();
        return switch (call.kind()) {
            case CLAIM -> wire.ask("POST", "/v1/packets/" + call.subject() + "/claims", user(call.user()), null);
            case SEND ->
                wire.ask(
                        "POST",
                        "/v1/packets",
                        user(call.user()) + key,
                        packet(call).encode());
            case PLAY -> wire.ask("POST", "/v1/draws/" + call.subject() + "/plays", user(call.user()) + key, null);
            case POOL ->
                wire.ask("POST", "/v1/campaigns/" + call.subject() + "/pools", user(call.user()) + key, pool(call));
            case DEPOSIT -> wire.ask("POST", account + "/deposits", service + key, money);
            case WITHDRAWAL -> wire.ask("POST", account + "/withdrawals", service + key, money);
            case BALANCE -> wire.ask("GET", account + "/balances", service, null);
            case HOSTILE -> attack(wire, call);
        };
    }

    private Wire.Response attack(Wire wire, Call call) throws IOException {
        Attack attack = Attack.ALL.get((int) call.amount());
        String key = attack.method().equals("POST") ? "Idempotency-Key: hostile\r\n" : "";
        return wire.ask(
                attack.method(), attack.path().replace("*", call.subject()), user(call.user()) + key, attack.body());
    }

    /** What is sent. */
    static JsonObject packet(Call call) {
        String[] terms = call.subject().split("x", 2);
        return new JsonObject()
                .put("group", GROUP)
                .put("kind", "lucky")
                .put("asset", ASSET)
                .put("amount", call.amount())
                .put("count", Integer.parseInt(terms[0]))
                .put("expiresInSeconds", Integer.parseInt(terms[1]));
    }

    private static String pool(Call call) {
        return new JsonObject().put("product", call.key()).put("group", GROUP).encode();
    }

    private static Answer judge(Call call, Wire.Response response) {
        int status = response.status();
        JsonObject body = response.body().isEmpty() ? new JsonObject() : new JsonObject(response.body());
        if (status == 200 || status == 201) {
            return done(call, status, body);
        }
        return refused(status, body, response.retryAfter());
    }

    /** @param problem as RFC 9457 has it */
    static Answer refused(int status, JsonObject problem, boolean retryAfter) {
        String type = problem.getString("type", "no problem");
        String name = type.substring(type.lastIndexOf('/') + 1);
        if (status == 503 && !retryAfter) {
            name += " without Retry-After";
        }
        return status >= 500 || status == 408 ? Answer.unknown(status, name) : Answer.refused(status, name);
    }

    private static Answer done(Call call, int status, JsonObject body) {
        return switch (call.kind()) {
            case CLAIM ->
                body.getString("status").equals("settled")
                        ? Answer.claimed(status, body.getInteger("slot"), body.getLong("amount"))
                        : Answer.unknown(status, "not settled");
            case SEND, POOL, DEPOSIT, WITHDRAWAL -> Answer.made(status, body.getString("id"), call.amount());
            case PLAY -> Answer.made(status, plays(body.getJsonArray("items")), 0);
            case BALANCE -> Answer.made(status, "", balance(body.getJsonArray("items")));
            case HOSTILE ->
                Answer.made(status, Attack.ALL.get((int) call.amount()).name(), 0);
        };
    }

    private static String plays(JsonArray items) {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < items.size(); i++) {
            JsonObject play = items.getJsonObject(i);
            all.append(play.getLong("seq"))
                    .append(':')
                    .append(play.getInteger("number"))
                    .append(' ');
        }
        return all.toString().strip();
    }

    private static long balance(JsonArray items) {
        long sum = 0;
        for (int i = 0; i < items.size(); i++) {
            if (items.getJsonObject(i).getString("asset").equals(ASSET)) {
                sum += items.getJsonObject(i).getLong("amount");
            }
        }
        return sum;
    }

    /** What the host's backend reads, beside the history. @throws IOException when the answer is not 200 */
    public JsonObject read(int server, String path) throws IOException {
        return body(wires.get(server).ask("GET", path, service, null));
    }

    /**
     * What a user reads, or the host's backend, beside the history; asked again for a while when there is no answer, as for who meets a
     * connection that died unseen.
     *
     * @param user empty for the backend
     * @throws IOException when it is refused, or not answered by then
     */
    public JsonObject readAgain(int server, String path, String user) throws IOException, InterruptedException {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MILLIS);
        while (true) {
            Wire.Response response = wires.get(server).ask("GET", path, user.isEmpty() ? service : user(user), null);
            if (response.status() != 503 || System.nanoTime() > until) {
                return body(response);
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
    }

    /** What the host's backend makes, beside the history. @throws IOException when it is refused */
    public JsonObject make(int server, String path, String key, @Nullable JsonObject body) throws IOException {
        return body(wires.get(server)
                .ask("POST", path, service + "Idempotency-Key: " + key + "\r\n", body == null ? null : body.encode()));
    }

    private static JsonObject body(Wire.Response response) throws IOException {
        if (response.status() != 200 && response.status() != 201) {
            throw new IOException(response.status() + " " + response.body());
        }
        return new JsonObject(response.body());
    }

    /** A line of a user to a server that believes him. */
    SocketLine socket(HttpClient client, int server, String user, Consumer<JsonObject> unasked) throws IOException {
        SocketLine line = SocketLine.open(client, ports.get(server), unasked);
        try {
            line.ask(new JsonObject().put("type", "auth").put("token", tokens.of(user)));
            return line;
        } catch (IOException refused) {
            line.close();
            throw refused;
        }
    }

    private String user(String name) {
        return "Authorization: Bearer " + tokens.of(name) + "\r\n";
    }

    @Override
    public void close() {
        wires.forEach(Wire::close);
    }
}
