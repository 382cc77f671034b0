package dev.hongbao.fuzz;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Bytes that are HTTP, nearly HTTP, and no HTTP. One connection each. */
final class BytesKind implements Kind {
    /** After which silence the client says that nothing more comes. */
    private static final int SILENCE_MILLIS = 80;

    private final World world;
    private final Hostile hostile;

    BytesKind(World world, Hostile hostile) {
        this.world = world;
        this.hostile = hostile;
    }

    @Override
    public String name() {
        return "bytes";
    }

    @Override
    public int share() {
        return 22;
    }

    @Override
    public void send(List<Input> inputs, Findings findings) throws IOException {
        for (Input input : inputs) {
            byte[] bytes = bytes(input);
            String fault = exchange(input, bytes, findings);
            if (fault != null) {
                findings.found(input, fault, new String(bytes, StandardCharsets.ISO_8859_1));
            }
        }
    }

    private String exchange(Input input, byte[] bytes, Findings findings) throws IOException {
        boolean isOver = !input.oneIn(5);
        try (Line line = new Line(world.port())) {
            line.send(bytes);
            if (isOver) {
                line.endOutput();
            } else {
                line.waitAtMost(SILENCE_MILLIS);
            }
            while (true) {
                try {
                    Answer answer = line.read(false);
                    if (answer == null) {
                        findings.count(input, "closed");
                        return null;
                    }
                    findings.count(input, Integer.toString(answer.status()));
                    String fault = answer.status() == 101 ? null : Oracle.fault(answer);
                    if (fault != null) {
                        return fault;
                    }
                    if (answer.status() == 101) {
                        return null;
                    }
                } catch (SocketTimeoutException silent) {
                    if (isOver) {
                        return "nothing within " + Line.LIMIT_MILLIS + " ms, and not closed";
                    }
                    isOver = true;
                    line.waitAtMost(Line.LIMIT_MILLIS);
                    line.endOutput();
                }
            }
        } catch (EOFException half) {
            findings.count(input, "half");
            return null; // the client left first
        } catch (IOException none) {
            return none.toString();
        }
    }

    private byte[] bytes(Input input) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i == 0 || i < 20 && input.oneIn(3); i++) {
            String request = request(input);
            all.writeBytes(request.getBytes(input.oneIn(2) ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1));
        }
        byte[] bytes = all.toByteArray();
        return input.oneIn(3) ? mutated(input, bytes) : bytes;
    }

    private byte[] mutated(Input input, byte[] bytes) {
        StringBuilder text = new StringBuilder(new String(bytes, StandardCharsets.ISO_8859_1));
        for (int i = 0; (i == 0 || input.oneIn(2)) && !text.isEmpty(); i++) {
            int at = input.random().nextInt(text.length());
            int until = Math.min(text.length(), at + 1 + input.random().nextInt(30));
            switch (input.random().nextInt(6)) {
                case 0 -> text.setCharAt(at, (char) input.random().nextInt(256));
                case 1 -> text.delete(at, until);
                case 2 -> text.insert(at, text.substring(at, until));
                case 3 -> text.insert(at, input.pick("\r", "\n", "\r\n", "\0", " ", "\t", ":", "\r\n\r\n", "\u00ff"));
                case 4 -> text.setLength(at);
                default -> {
                    byte[] noise = new byte[1 + input.random().nextInt(200)];
                    input.random().nextBytes(noise);
                    text.insert(at, new String(noise, StandardCharsets.ISO_8859_1));
                }
            }
        }
        return text.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    private String request(Input input) {
        if (input.oneIn(25)) {
            return input.pick(
                    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0",
                    "PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n",
                    "\r\n\r\n\r\n",
                    "\u0016\u0003\u0001\u0002\0\u0001\0\u0001\u00fc\u0003\u0003",
                    "\0".repeat(300),
                    "GET\r\n\r\n",
                    "GET /\r\n\r\n");
        }
        String end = input.oneIn(30) ? "\n" : "\r\n";
        StringBuilder text = new StringBuilder(line(input)).append(end);
        if (!input.oneIn(15)) {
            text.append("Host: h").append(end);
        }
        if (!input.oneIn(5)) {
            text.append("Authorization: Bearer ").append(world.token("alice")).append(end);
        }
        while (input.oneIn(2)) {
            text.append(header(input)).append(end);
        }
        return text + body(input, end);
    }

    private String line(Input input) {
        String method = input.oneIn(6)
                ? input.pick(
                        "", "get", "G ET", "CONNECT", "OPTIONS", "PUT", "A".repeat(300), "G\tT", "DELETE", "\u00e9")
                : input.pick("GET", "POST");
        String target = input.oneIn(4)
                ? input.pick(
                        "",
                        "*",
                        "http://h/v1/me/balances",
                        "h:80",
                        "//v1/me",
                        "/v1/../v1/me/balances",
                        "/%",
                        "/" + "a".repeat(4_100),
                        "/?" + "a&".repeat(1_500),
                        "/v1/me/balances#x",
                        "/\u00e9",
                        "/v1/socket",
                        "/a b")
                : input.pick(
                        "/v1/me/balances",
                        "/v1/packets",
                        "/v1/packets/01939d1e-8c00-7000-8000-000000000001/claims",
                        "/nothing");
        String version = input.oneIn(8)
                ? input.pick(
                        "HTTP/1.0",
                        "HTTP/1.2",
                        "HTTP/0.9",
                        "HTTP/2.0",
                        "http/1.1",
                        "HTTP/1.1 ",
                        "HTTP/11",
                        "HTTP/1.",
                        "",
                        "X")
                : "HTTP/1.1";
        return method + " " + target + " " + version;
    }

    private String header(Input input) {
        return switch (input.random().nextInt(10)) {
            case 0 ->
                IntStream.range(0, input.random().nextInt(700))
                        .mapToObj(i -> "X-" + i + ": " + i)
                        .collect(Collectors.joining("\r\n"));
            case 1 -> "X-Long: " + "x".repeat(input.random().nextInt(20_000));
            case 2 -> input.pick("NoColon", ": empty", "X : 1", " X: folded", "X\0: 1", "X: a\rb", "\u00e9: 1", "X:");
            case 3 ->
                "Connection: "
                        + input.pick(
                                "close",
                                "keep-alive",
                                "Upgrade",
                                "close, keep-alive",
                                "upgrade, HTTP2-Settings",
                                "\u00ff");
            case 4 -> "Upgrade: " + input.pick("websocket", "h2c", "TLS/1.0", "");
            case 5 -> "Expect: " + input.pick("100-continue", "200-ok", "100-continue, x", "");
            case 6 ->
                input.pick(
                        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                        "Sec-WebSocket-Key: x",
                        "Sec-WebSocket-Protocol: hongbao.v1",
                        "Sec-WebSocket-Version: 99");
            case 7 -> "Content-Type: " + input.pick("application/json", "text/plain", ";;;", "multipart/form-data");
            case 8 -> "Idempotency-Key: " + input.number();
            default -> "X: " + hostile.text(input);
        };
    }

    private String body(Input input, String end) {
        String json = "{\"group\":\"family\",\"kind\":\"lucky\",\"asset\":\"CNY\",\"amount\":100,\"count\":2}";
        return switch (input.random().nextInt(8)) {
            case 0 -> "Content-Length: " + json.length() + end + end + json;
            case 1 ->
                "Content-Length: "
                        + input.pick("-1", "+5", "0x10", "5, 5", "99999999999999999999", "1e2", "", "5 5", "1000") + end
                        + end + json;
            case 2 -> "Content-Length: 5" + end + "Content-Length: 6" + end + end + json;
            case 3 ->
                "Transfer-Encoding: "
                        + input.pick(
                                "identity",
                                "gzip, chunked",
                                "xchunked",
                                "chunked, chunked",
                                "chunked\r\nContent-Length: 5",
                                "\u000bchunked")
                        + end + end + chunks(input, json);
            case 4, 5 -> "Transfer-Encoding: chunked" + end + end + chunks(input, json);
            default -> end;
        };
    }

    private static String chunks(Input input, String json) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i == 0 || input.oneIn(2); i++) {
            text.append(
                            input.oneIn(4)
                                    ? input.pick(
                                            "zz",
                                            "-5",
                                            "fffffffff",
                                            "",
                                            "0x5",
                                            " 5",
                                            "5 ",
                                            "5;" + "x".repeat(5_000),
                                            "00000000000000005",
                                            "7fffffff")
                                    : Integer.toHexString(json.length()) + (input.oneIn(5) ? ";a=b" : ""))
                    .append(input.oneIn(10) ? "\n" : "\r\n")
                    .append(json)
                    .append(input.oneIn(10) ? "XX" : "\r\n");
        }
        String trailers = input.oneIn(5)
                ? IntStream.range(0, 300).mapToObj(i -> "T-" + i + ": x\r\n").collect(Collectors.joining())
                : "";
        return input.oneIn(6) ? text.toString() : text + "0\r\n" + trailers + "\r\n";
    }
}
