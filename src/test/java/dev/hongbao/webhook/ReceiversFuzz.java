package dev.hongbao.webhook;

import dev.hongbao.config.AddressRange;
import dev.hongbao.fuzz.Findings;
import dev.hongbao.fuzz.Hostile;
import dev.hongbao.fuzz.Input;
import dev.hongbao.fuzz.Kind;
import dev.hongbao.fuzz.Oracle;
import dev.hongbao.testing.TestEngine;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** What receivers of webhooks answer: any status, slowly, without an end, broken, somewhere else. Each attempt ends in time, with words. */
public final class ReceiversFuzz implements Kind, AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofMillis(250);
    private static final int ACCEPT_MILLIS = 1_000;
    private static final Duration LATEST = Duration.ofSeconds(10);
    private static final String SECRET = "whsec_" + "A".repeat(43) + "=";

    private final Hostile hostile;
    private final Vertx vertx = Vertx.vertx();
    private final WorkerExecutor lookups = vertx.createSharedWorkerExecutor("lookups", 32);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Receiver.Terms terms = new Receiver.Terms(
            new AddressGuard(List.of(AddressRange.parse("127.0.0.0/8"))), TIMEOUT, null, Clock.systemUTC());

    /** @param hostile what headers may say */
    public ReceiversFuzz(Hostile hostile) {
        this.hostile = hostile;
    }

    @Override
    public String name() {
        return "receivers";
    }

    @Override
    public int share() {
        return 4;
    }

    @Override
    public int batch() {
        return 8;
    }

    /**
     * What a receiver does.
     *
     * @param status that must be understood; 0 when there is none
     * @param waits before the second half, until who asked has given up
     */
    private record Plan(String first, boolean waits, String second, int status) {}

    @Override
    public void send(List<Input> inputs, Findings findings) throws Exception {
        try (ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                Receiver receiver = new Receiver(vertx, lookups, terms)) {
            listening.setSoTimeout(ACCEPT_MILLIS); // an attempt may have ended before it connects
            for (Input input : inputs) {
                Plan plan = plan(input);
                var answering = threads.submit(() -> answer(listening, plan));
                WebhookMessage message = new WebhookMessage("msg_1", "{\"n\":" + input.number() + "}");
                String url = "http://127.0.0.1:" + listening.getLocalPort() + "/hook";
                long begun = System.nanoTime();
                Receiver.Reply reply = TestEngine.get(receiver.tell(url, message, List.of(SECRET), 0));
                long took = System.nanoTime() - begun;
                receiver.close(); // each on a connection of its own
                findings.count(
                        input,
                        reply.answer().status() == null
                                ? "no answer"
                                : Integer.toString(reply.answer().status()));
                String fault = fault(plan, reply, took);
                if (fault != null) {
                    findings.found(input, fault, plan.toString());
                }
                answering.get(30, TimeUnit.SECONDS);
            }
        }
    }

    private static String fault(Plan plan, Receiver.Reply reply, long tookNanos) {
        Integer status = reply.answer().status();
        if (tookNanos > LATEST.toNanos()) {
            return "it took " + tookNanos / 1_000_000 + " ms";
        }
        if (status != null && plan.status != status) {
            return "understood as " + status;
        }
        if (reply.retryAfter().isNegative()) {
            return "a pause of " + reply.retryAfter();
        }
        String error = reply.answer().error();
        return status == null && error == null ? "no word of why" : error == null ? null : Oracle.internals(error);
    }

    private static Void answer(ServerSocket listening, Plan plan) throws IOException {
        try (Socket socket = listening.accept()) {
            socket.setSoTimeout((int) LATEST.toMillis());
            socket.getInputStream().read(new byte[4_096]);
            socket.getOutputStream().write(plan.first.getBytes(StandardCharsets.ISO_8859_1));
            socket.getOutputStream().flush();
            if (plan.waits) {
                socket.getInputStream().transferTo(OutputStream.nullOutputStream());
            }
            socket.getOutputStream().write(plan.second.getBytes(StandardCharsets.ISO_8859_1));
            socket.getOutputStream().flush();
        } catch (IOException gone) {
            // who asked has closed
        }
        return null;
    }

    private Plan plan(Input input) {
        int status = input.pick(200, 201, 204, 299, 301, 302, 303, 307, 308, 400, 401, 404, 410, 429, 500, 503, 599);
        String head = "HTTP/1.1 " + status + " X\r\n";
        String headers = headers(input);
        return switch (input.random().nextInt(12)) {
            case 0 -> new Plan("", false, "", 0);
            case 1 ->
                new Plan(
                        input.pick(
                                "\0\0\0",
                                "HTTP/1.1\r\n\r\n",
                                "HTTP/9.9 200 OK\r\n\r\n",
                                "hello\r\n\r\n",
                                "HTTP/1.1 abc X\r\n\r\n",
                                "HTTP/1.1 99999 X\r\n\r\n",
                                "\r\n\r\n\r\n",
                                "SSH-2.0-x\r\n"),
                        false,
                        "",
                        0);
            case 2 -> new Plan(head, true, "\r\n", 0);
            case 3 -> new Plan(head + "Content-Length: 5\r\n\r\nab", false, "", status == 204 ? 204 : 0);
            case 4 ->
                new Plan(
                        head + "Content-Length: " + input.pick("-1", "x", "99999999999999999999", "") + "\r\n\r\n",
                        false,
                        "",
                        status);
            case 5 -> new Plan(head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", false, "", status == 204 ? 204 : 0);
            case 6 ->
                new Plan(
                        head + "X: " + "x".repeat(input.pick(100, 9_000, 200_000)) + "\r\n",
                        false,
                        "Content-Length: 0\r\n\r\n",
                        status);
            case 7 -> new Plan(head + "Content-Length: 400000\r\n\r\n", false, "x".repeat(400_000), status);
            case 8 ->
                new Plan(
                        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\n\r\n",
                        false,
                        head + "Content-Length: 0\r\n\r\n",
                        status);
            default ->
                new Plan(head + headers + (status == 204 ? "\r\n" : "Content-Length: 2\r\n\r\n{}"), false, "", status);
        };
    }

    private String headers(Input input) {
        String strange = hostile.text(input).replace('\r', ' ').replace('\n', ' ');
        String shorter = strange.length() > 500 ? strange.substring(0, 500) : strange;
        return switch (input.random().nextInt(4)) {
            case 0 ->
                "Retry-After: "
                        + input.pick(
                                "0",
                                "1",
                                "-1",
                                "99999999999999999999",
                                "1e9",
                                "",
                                "Wed, 21 Oct 2015 07:28:00 GMT",
                                "Fri, 31 Feb 9999 25:00:00 GMT",
                                shorter)
                        + "\r\n";
            case 1 ->
                "Location: " + input.pick("/", "http://127.0.0.1:9/", "//x", "file:///etc/passwd", "", shorter)
                        + "\r\n";
            case 2 -> "Content-Encoding: " + input.pick("gzip", "br", "x") + "\r\nContent-Type: " + shorter + "\r\n";
            default -> "";
        };
    }

    @Override
    public void close() throws Exception {
        threads.shutdownNow();
        vertx.close().await(20, TimeUnit.SECONDS);
    }
}
