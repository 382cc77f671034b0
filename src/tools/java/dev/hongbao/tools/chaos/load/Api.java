package dev.hongbao.tools.chaos.load;

import dev.hongbao.access.TokenSigner;
import dev.hongbao.tools.chaos.check.Answer;
import dev.hongbao.tools.chaos.check.Call;
import dev.hongbao.tools.chaos.check.Call.Kind;
import dev.hongbao.tools.chaos.check.Operation;
import dev.hongbao.tools.chaos.check.Seen.Event;
import dev.hongbao.tools.local.ApiClient;
import dev.hongbao.tools.local.ApiClient.Request;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.UserId;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The calls of simulated clients to all servers. Thread-safe; blocking. */
public final class Api {
    /** The group of all users. */
    public static final String GROUP = "chaos";

    /** A server that has not answered by then breaks a promise. */
    public static final Duration LIMIT = Duration.ofSeconds(15);

    private static final Duration TOKEN_TTL = Duration.ofDays(1);
    private static final String ASSET = "CNY";
    /** A page of events, the oldest or those {@code &after=} a cursor. */
    static final String OUTBOX = "/v1/outbox?limit=1000";

    private static final Set<String> OF_PACKETS =
            Set.of("claim.settled", "packet.sent", "packet.drained", "packet.refunded");
    private static final Set<Kind> OF_HOST = Set.of(Kind.DEPOSIT, Kind.WITHDRAWAL, Kind.BALANCE);

    private final History history;
    private final TokenSigner signer;
    private final List<Integer> ports;
    private final ApiClient http = new ApiClient(LIMIT);
    private final String service;

    /** Each is signed once, so that a server verifies it once. */
    private final Map<String, String> tokens = new ConcurrentHashMap<>();

    /** @param ports of the servers, or of the proxies in front of them */
    public Api(History history, TokenSigner signer, List<Integer> ports) {
        this.history = history;
        this.signer = signer;
        this.ports = ports;
        this.service = signer.sign(new UserId("backend"), Set.of(), Role.SERVICE, TOKEN_TTL);
    }

    History history() {
        return history;
    }

    public int servers() {
        return ports.size();
    }

    int port(int server) {
        return ports.get(server);
    }

    /** @return the token of a user in {@link #GROUP} */
    String token(String user) {
        return tokens.computeIfAbsent(
                user, name -> signer.sign(new UserId(name), Set.of(new GroupId(GROUP)), Role.USER, TOKEN_TTL));
    }

    /** Makes a call and keeps it with its answer. Never throws for a failure of a server or the network. */
    public Operation perform(Call call) {
        return history.perform(call, this::answer);
    }

    private Answer answer(Call call) {
        try {
            ApiClient.Answer answer = http.call(request(call));
            return answer.status() == 200 || answer.status() == 201
                    ? done(call, answer.status(), answer.body())
                    : refused(answer.status(), answer.problem(), answer.retryAfter());
        } catch (IOException lost) {
            return unanswered(lost);
        } catch (DecodeException | ClassCastException | NullPointerException garbled) {
            return Answer.unknown(-1, "an answer of another form");
        }
    }

    private Request request(Call call) {
        if (call.kind() == Kind.HOSTILE) {
            return Attack.of(call).request(port(call.server()), token(call.user()), call.subject());
        }
        String path = switch (call.kind()) {
            case CLAIM -> "/v1/packets/" + call.subject() + "/claims";
            case PLAY -> "/v1/draws/" + call.subject() + "/plays";
            case POOL -> "/v1/campaigns/" + call.subject() + "/pools";
            case DEPOSIT -> "/v1/accounts/" + call.user() + "/deposits";
            case WITHDRAWAL -> "/v1/accounts/" + call.user() + "/withdrawals";
            case BALANCE -> "/v1/accounts/" + call.user() + "/balances";
            default -> "/v1/packets";
        };
        JsonObject body = switch (call.kind()) {
            case SEND -> packet(call);
            case POOL -> new JsonObject().put("product", call.key()).put("group", GROUP);
            case DEPOSIT, WITHDRAWAL -> new JsonObject().put("asset", ASSET).put("amount", call.amount());
            default -> null;
        };
        return new Request(
                port(call.server()),
                call.kind() == Kind.BALANCE ? "GET" : "POST",
                path,
                OF_HOST.contains(call.kind()) ? service : token(call.user()),
                call.key(),
                body == null ? null : body.encode());
    }

    /** The body of a send. */
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

    static Answer unanswered(IOException lost) {
        return Answer.unknown(0, lost instanceof HttpTimeoutException ? "timeout" : "broken");
    }

    static Answer refused(int status, String problem, boolean retryAfter) {
        String name = problem.isEmpty() ? "no problem" : problem;
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
            case PLAY ->
                Answer.made(
                        status,
                        items(body).stream()
                                .map(play -> play.getLong("seq") + ":" + play.getInteger("number"))
                                .collect(Collectors.joining(" ")),
                        0);
            case BALANCE ->
                Answer.made(
                        status,
                        "",
                        items(body).stream()
                                .filter(each -> each.getString("asset").equals(ASSET))
                                .mapToLong(each -> each.getLong("amount"))
                                .sum());
            case HOSTILE -> Answer.made(status, Attack.of(call).name(), 0);
        };
    }

    /** @return the items of a page */
    static List<JsonObject> items(JsonObject page) {
        JsonArray items = page.getJsonArray("items");
        return IntStream.range(0, items.size()).mapToObj(items::getJsonObject).toList();
    }

    /** The events of a page of the outbox, or of a webhook's message. */
    static List<Event> events(JsonObject page) {
        return items(page).stream()
                .map(event -> {
                    JsonObject data = event.getJsonObject("data");
                    String type = event.getString("type");
                    return new Event(
                            event.getString("id"),
                            type,
                            OF_PACKETS.contains(type) ? data.getString("packet") : "",
                            type.equals("claim.settled") ? data.getInteger("slot") : -1,
                            event.encode());
                })
                .toList();
    }

    /** Reads the whole outbox, until there is no new event. */
    public List<Event> allEvents() throws IOException, InterruptedException {
        List<Event> events = new ArrayList<>();
        String after = "";
        int before;
        do {
            before = events.size();
            JsonObject page = readAgain(OUTBOX + after, "");
            events.addAll(events(page));
            after = "&after=" + page.getString("next");
        } while (events.size() > before);
        return events;
    }

    /** A read of the host's backend, without history. @throws IOException if the status is not 200 */
    JsonObject read(int server, String path) throws IOException {
        return http.call(new Request(port(server), "GET", path, service, "", null))
                .done();
    }

    /** A command of the host's backend, without history. @throws IOException if it is refused */
    JsonObject make(int server, String path, String key, String body) throws IOException {
        return http.call(new Request(port(server), "POST", path, service, key, body))
                .done();
    }

    /**
     * A read without history, repeated until there is an answer: the first call may use a dead connection to a store.
     *
     * @param user empty for the host's backend
     * @throws IOException if the call is refused, or has no answer within {@link #LIMIT}
     */
    public JsonObject readAgain(String path, String user) throws IOException, InterruptedException {
        String token = user.isEmpty() ? service : token(user);
        return http.callAgain(new Request(port(0), "GET", path, token, "", null), LIMIT)
                .done();
    }
}
