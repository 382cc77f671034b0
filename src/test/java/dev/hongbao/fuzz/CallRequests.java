package dev.hongbao.fuzz;

import io.vertx.core.json.JsonObject;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Writes the calls of a contract as requests, with right, nearly right and wrong values. Immutable. */
final class CallRequests {
    /** What takes somebody away from the others. */
    private static final Set<String> HARMFUL = Set.of(
            "freezeUser", "unfreezeUser", "blockUser", "unblockUser", "revokeTokens", "blockGroup", "unblockGroup");

    private final World world;
    private final Values values;
    private final Hostile hostile;
    private final String host;

    /** @param host as the header says */
    CallRequests(ContractText contract, World world, Hostile hostile, String host) {
        this.world = world;
        this.values = new Values(contract, world);
        this.hostile = hostile;
        this.host = host;
    }

    /** One request of a call. */
    Request of(Input input, ContractText.Call call) {
        String method = input.oneIn(40)
                ? input.pick("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "X")
                : call.method();
        Request request = Request.of(method, path(input, call) + query(input, call), host);
        headers(input, call, request);
        if (call.body() != null && !input.oneIn(15) || input.oneIn(60)) {
            request.body(body(input, call));
        }
        return request;
    }

    private String path(Input input, ContractText.Call call) {
        StringBuilder path = new StringBuilder();
        for (String step : call.path().substring(1).split("/", -1)) {
            path.append('/');
            if (step.startsWith("{")) {
                String name = step.substring(1, step.length() - 1);
                path.append(input.oneIn(7) ? strange(input) : encoded(right(input, call, "path", name)));
            } else {
                path.append(input.oneIn(500) ? strange(input) : step);
            }
        }
        return path.toString();
    }

    private String right(Input input, ContractText.Call call, String in, String name) {
        if (HARMFUL.contains(call.id()) && in.equals("path")) {
            return name.equals("group") ? "strangers" : input.pick(World.VICTIMS);
        }
        return String.valueOf(values.right(input, call.parameters().get(in + ":" + name), name));
    }

    /** Part of a path or of a query, on one line and without blanks. */
    private String strange(Input input) {
        return input.oneIn(4)
                ? input.pick(
                        "%", "%zz", "%2F", "%00", "..", ".", ";x=1", "a%ff", "%c0%ae", "+", "{packet}", "@", "a=b", "")
                : encoded(hostile.text(input));
    }

    private static String encoded(String text) {
        String shorter = text.length() > 3_000 ? text.substring(0, 3_000) : text;
        return URLEncoder.encode(shorter, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private String query(Input input, ContractText.Call call) {
        List<String> pairs = new ArrayList<>();
        call.parameters().keySet().stream()
                .filter(name -> name.startsWith("query:"))
                .forEach(parameter -> {
                    String name = parameter.substring("query:".length());
                    while (input.oneIn(3)) {
                        boolean isRight = !input.oneIn(3);
                        pairs.add(name + "=" + (isRight ? encoded(right(input, call, "query", name)) : strange(input)));
                    }
                });
        if (input.oneIn(40)) {
            pairs.add(input.pick("", "x=1", "limit", "=", "cursor=" + strange(input), "%zz=1"));
        }
        return pairs.isEmpty() ? "" : "?" + String.join("&", pairs);
    }

    private void headers(Input input, ContractText.Call call, Request request) {
        if (!input.oneIn(30)) {
            request.with(
                    "Authorization",
                    input.oneIn(30)
                            ? input.pick(
                                    "Bearer",
                                    "Bearer x.y.z",
                                    "Basic eDp5",
                                    "bearer " + world.service(),
                                    hostileHeader(input))
                            : "Bearer " + token(input, call));
        }
        if (call.parameters().containsKey("header:Idempotency-Key") && !input.oneIn(20)) {
            request.with(
                    "Idempotency-Key",
                    input.oneIn(8)
                            ? input.pick("k1", "k2", "k3", "")
                            : input.oneIn(20) ? hostileHeader(input) : input.kind() + input.number());
        }
        if (call.body() != null || input.oneIn(50)) {
            request.with(
                    "Content-Type",
                    input.oneIn(25)
                            ? input.pick(
                                    "text/plain",
                                    "application/json; charset=utf-16",
                                    "application/xml",
                                    "",
                                    "application/json;",
                                    "multipart/form-data; boundary=b")
                            : "application/json");
        }
        if (call.parameters().containsKey("header:Prefer") && input.oneIn(2)) {
            request.with(
                    "Prefer",
                    input.pick(
                            "respond-async",
                            "respond-async",
                            "wait=0",
                            "wait",
                            "wait=x",
                            "wait=-1",
                            "wait=1.5",
                            ";",
                            hostileHeader(input)));
        }
        if (input.oneIn(10)) {
            request.with(
                    input.pick(
                            "Accept-Language",
                            "X-Request-Id",
                            "traceparent",
                            "If-None-Match",
                            "Origin",
                            "Content-Encoding",
                            "X-Forwarded-For",
                            "Forwarded",
                            "Range",
                            "Access-Control-Request-Method",
                            "Cookie",
                            "Accept"),
                    input.pick(
                            "zh-CN",
                            "zh;q=2,*;q=x",
                            "*",
                            "gzip",
                            "https://evil.example",
                            "GET",
                            "bytes=0-1",
                            "for=1;;",
                            hostileHeader(input)));
        }
    }

    private String token(Input input, ContractText.Call call) {
        boolean service = input.oneIn(25) != call.isForService();
        return service ? world.service() : world.token(input.pick(World.USERS));
    }

    private String hostileHeader(Input input) {
        String text = hostile.text(input);
        return text.length() > 3_000 ? text.substring(0, 3_000) : text;
    }

    private byte[] body(Input input, ContractText.Call call) {
        if (call.body() == null) {
            return "{}".getBytes(StandardCharsets.UTF_8);
        }
        List<JsonObject> examples = call.told().examples();
        Object tree = examples.isEmpty() || input.oneIn(2)
                ? values.right(input, call.body(), "body")
                : input.pick(examples).copy();
        if (!(tree instanceof JsonObject object)) {
            return String.valueOf(tree).getBytes(StandardCharsets.UTF_8);
        }
        if (object.containsKey("url")) {
            object.put("url", "https://127.0.0.1:9/x"); // nobody outside is called
        }
        byte[] text = hostile.spoilt(input, object, input.pick(0, 0, 0, 1, 1, 2, 5));
        return input.oneIn(400)
                ? (new String(text, StandardCharsets.UTF_8) + " ".repeat(140_000)).getBytes(StandardCharsets.UTF_8)
                : text;
    }
}
