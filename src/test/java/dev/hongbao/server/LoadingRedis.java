package dev.hongbao.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/** As much of Redis as a start asks, while it reads a large log back, which a real one does too fast: it greets, and {@code INFO} says so. */
public final class LoadingRedis implements AutoCloseable {
    private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final AtomicInteger asked = new AtomicInteger();
    private final int loading;

    /** @param loading how often it says that it is not done */
    public LoadingRedis(int loading) throws IOException {
        this.loading = loading;
        daemon(() -> {
            while (true) {
                Socket client = socket.accept();
                daemon(() -> serve(client));
            }
        });
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void daemon(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException closed) {
                // who asks has gone, or the test is over
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    /** Of a command, {@code *2 $4 INFO $7 default} in lines, the name is enough. */
    private void serve(Socket client) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer = switch (line.toUpperCase(Locale.ROOT)) {
                case "HELLO" -> "%1\r\n+proto\r\n:3\r\n";
                case "PING" -> "+PONG\r\n";
                case "INFO" -> info();
                case "EVALSHA" -> "*0\r\n";
                default -> "";
            };
            client.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
        }
    }

    private String info() {
        String text = "redis_version:7.4.0\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\nloading:"
                + (asked.incrementAndGet() <= loading ? "1\r\nloading_eta_seconds:9" : "0") + "\r\n";
        return "$" + text.length() + "\r\n" + text + "\r\n";
    }

    public String url() {
        return "redis://127.0.0.1:" + socket.getLocalPort();
    }

    /** How often it was asked what it is. */
    public int asked() {
        return asked.get();
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }
}
