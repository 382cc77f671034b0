package dev.hongbao.fuzz;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What comes to the operator's port: calls, pages, health and numbers, with forms, cookies and names of hosts. Immutable. */
final class ConsoleRequests {
    private static final int MOST_TEXT = 3_000;

    private static final List<String> PAGES = List.of(
            "/",
            "/health/live",
            "/health/ready",
            "/metrics",
            "/recent.json",
            "/console/oidc.json",
            "/console/main.js",
            "/console/overview.js",
            "/vendor/uplot.js",
            "/app/api.js",
            "/icon.svg");

    private static final List<String> NO_PAGES = List.of(
            "*",
            "//console",
            "/console/",
            "/console/../app/index.html",
            "/console/%2e%2e/%2e%2e/db/migration/R__90_grants.sql",
            "/vendor/..%2f..%2fopenapi.yaml",
            "/console/%",
            "/console/%00.js",
            "/health",
            "/health/ready/",
            "/manage",
            "/manage/",
            "/manage/nothing",
            "/v1/",
            "/v1/socket",
            "/app/" + "a".repeat(3_900),
            "http://localhost/metrics",
            "/metrics#x",
            "/metrics;x=1");

    private static final List<String> HOSTS =
            List.of("localhost", "127.0.0.1:9090", "LOCALHOST:1", "[::1]:80", "127.1.2.3");

    private static final List<String> NO_HOSTS = List.of(
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "localhost:",
            "localhost:x",
            "",
            "[::1");

    private final ContractText contract;
    private final List<ContractText.Call> ownCalls;
    private final CallRequests requests;
    private final World world;
    private final Hostile hostile;

    ConsoleRequests(World world, Hostile hostile) throws IOException {
        this.contract = ContractText.ofConsole();
        this.ownCalls = contract.calls().stream()
                .filter(call -> call.path().startsWith("/manage/"))
                .toList();
        this.requests = new CallRequests(contract, world, hostile, "localhost");
        this.world = world;
        this.hostile = hostile;
    }

    CallsKind.Asked of(Input input) {
        if (input.oneIn(3)) {
            return new CallsKind.Asked("", page(input));
        }
        ContractText.Call call = input.oneIn(2) ? input.pick(ownCalls) : input.pick(contract.calls());
        return new CallsKind.Asked(call.id(), requests.of(input, call));
    }

    private Request page(Input input) {
        String method = input.oneIn(6) ? input.pick("HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "X") : "GET";
        Request request = Request.of(method, path(input), input.oneIn(8) ? input.pick(NO_HOSTS) : input.pick(HOSTS));
        while (input.oneIn(2)) {
            request.with(
                    input.pick(
                            "Cookie",
                            "Authorization",
                            "If-None-Match",
                            "If-Modified-Since",
                            "Accept-Encoding",
                            "Accept",
                            "Range",
                            "Origin",
                            "Upgrade",
                            "X-Forwarded-Host",
                            "Accept-Language"),
                    value(input));
        }
        if (input.oneIn(6)) {
            request.with(
                            "Content-Type",
                            input.pick(
                                    "application/x-www-form-urlencoded",
                                    "multipart/form-data; boundary=b",
                                    "multipart/form-data",
                                    "application/json"))
                    .body(form(input));
        }
        return request;
    }

    private String path(Input input) {
        if (input.oneIn(4)) {
            return input.pick(NO_PAGES);
        }
        String page = input.pick(PAGES);
        return switch (input.random().nextInt(6)) {
            case 0 -> page + "?after=" + encoded(input);
            case 1 -> page + "?" + input.pick("after=1&after=2", "after", "=", "&&", "%zz", "after=%ff", "x=1");
            case 2 -> page + "/" + encoded(input);
            default -> page;
        };
    }

    private String encoded(Input input) {
        return URLEncoder.encode(shortened(input), StandardCharsets.UTF_8);
    }

    private String shortened(Input input) {
        String text = hostile.text(input);
        return text.length() > MOST_TEXT ? text.substring(0, MOST_TEXT) : text;
    }

    private String value(Input input) {
        return input.oneIn(2)
                ? shortened(input)
                : input.pick(
                        "*",
                        "\"x\", W/\"y\", *",
                        "W/\"" + "x".repeat(500),
                        "gzip;q=0, identity;q=0",
                        "gzip;q=x, *;q=9",
                        "br,gzip",
                        "bytes=0-0,-1",
                        "null",
                        "websocket",
                        "Bearer " + world.service(),
                        "token=" + world.service() + "; token=; =; a=\"b",
                        "a=b; ".repeat(400));
    }

    private String form(Input input) {
        return input.pick(
                "token=" + encoded(input) + "&x=%zz&=&&a=b",
                "a=1&".repeat(2_000),
                "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"../x\"\r\n\r\nx\r\n--b--\r\n",
                "--b\r\n",
                "{}");
    }
}
