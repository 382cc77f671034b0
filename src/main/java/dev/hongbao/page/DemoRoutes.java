package dev.hongbao.page;

import dev.hongbao.access.RateLimits;
import dev.hongbao.http.Call;
import dev.hongbao.http.Problem;
import dev.hongbao.http.ProblemType;
import dev.hongbao.http.Reply;
import dev.hongbao.ledger.Wallets;
import dev.hongbao.values.Caller;
import dev.hongbao.values.Caller.Role;
import dev.hongbao.values.DrawId;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.JsonText;
import dev.hongbao.values.RateDecision;
import dev.hongbao.values.Reason;
import dev.hongbao.values.Text;
import dev.hongbao.values.TooManyCallsException;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The demo's two calls without a token: the list of users, and the sign-in as one of them. Answers only a browser on this machine
 * that opened a loopback address. Origin excludes pages of other sites, and Host excludes DNS rebinding. Headers that proxies add
 * exclude a proxy on this machine, whose visitors may be remote. Confined to its event loop.
 */
final class DemoRoutes {
    private static final List<String> LOOPBACK = List.of("127.0.0.1", "localhost", "[::1]");

    /** Headers in which proxies name their clients, in lower case. */
    private static final Pattern FROM_A_PROXY =
            Pattern.compile("forwarded|via|x-(original-)?forwarded.*|x-real-ip|.*-(client|connecting)-ip");

    private static final Text ELSEWHERE = Text.of("demo.address");

    private final DemoLogin login;
    private final Wallets wallets;
    private final RateLimits limits;
    private final long answerMillis;

    public DemoRoutes(DemoLogin login, Wallets wallets, RateLimits limits, long answerMillis) {
        this.login = login;
        this.wallets = wallets;
        this.limits = limits;
        this.answerMillis = answerMillis;
    }

    public Future<Reply> about(Call call) {
        return Future.succeededFuture(
                Reply.json(200, about(isLocal(call.exchange().request()))));
    }

    public Future<Reply> enter(Call call) {
        if (!login.isOpen()) {
            return Future.succeededFuture(Reply.problem(Problem.of(ProblemType.DEMO_OFF, login.whyOff())));
        }
        if (!isLocal(call.exchange().request())) {
            return Future.succeededFuture(Reply.problem(Problem.of(ProblemType.DEMO_OFF, ELSEWHERE)));
        }
        UserId member = new UserId(call.requiredBody().getString("member"));
        if (!DemoLogin.MEMBERS.contains(member)) {
            throw InvalidInputException.of("#/member", Text.of("demo.member"));
        }
        RateDecision decision = limits.call(new Caller(member, Set.of(DemoLogin.GROUP), Role.USER, Instant.MAX));
        call.exchange().tell(decision);
        if (!decision.allowed()) {
            throw new TooManyCallsException(Reason.RATE, Text.of("rate.slow-down"), decision.retryAfterSeconds());
        }
        return login.enter(member, wallets)
                .timeout(answerMillis, TimeUnit.MILLISECONDS)
                .map(session -> Reply.json(201, json(session)));
    }

    private String about(boolean local) {
        boolean open = login.isOpen() && local;
        JsonText json = new JsonText(256).beginObject().field("open", open);
        if (open) {
            String members = DemoLogin.MEMBERS.stream()
                    .map(member -> '"' + member.value() + '"')
                    .collect(Collectors.joining(",", "[", "]"));
            json.plain("group", DemoLogin.GROUP.value()).name("members").raw(members);
        } else {
            json.field("reason", (login.isOpen() ? ELSEWHERE : login.whyOff()).toString());
        }
        return json.endObject().toString();
    }

    private static String json(DemoLogin.Session session) {
        DrawId wheel = session.wheel();
        return new JsonText(512)
                .beginObject()
                .plain("user", session.user().value())
                .plain("group", DemoLogin.GROUP.value())
                .plain("token", session.token())
                .plain("expiresAt", session.expiresAt().toString())
                .field("draw", wheel == null ? null : wheel.toString())
                .endObject()
                .toString();
    }

    /** Whether the request comes directly from a loopback page, without a proxy or a page of another origin. */
    private static boolean isLocal(HttpServerRequest request) {
        MultiMap headers = request.headers();
        List<String> hosts = headers.getAll(HttpHeaders.HOST);
        if (hosts.size() != 1 || !isOwn(hosts.get(0), request.localAddress().port())) {
            return false;
        }
        String origin = headers.get(HttpHeaders.ORIGIN);
        return (origin == null || origin.equalsIgnoreCase("http://" + hosts.get(0)))
                // No browser speaks HTTP/1.0, but nginx does by default, and then adds no header.
                && request.version() != HttpVersion.HTTP_1_0
                && headers.names().stream()
                        .noneMatch(name -> FROM_A_PROXY
                                .matcher(name.toLowerCase(Locale.ROOT))
                                .matches());
    }

    /** A browser omits the port only if it is 80. */
    private static boolean isOwn(String host, int port) {
        return LOOPBACK.stream()
                .anyMatch(name ->
                        host.equalsIgnoreCase(name + ":" + port) || (port == 80 && host.equalsIgnoreCase(name)));
    }
}
