package dev.hongbao.testing;

import dev.hongbao.engine.ServerLine;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Lines between servers in one JVM that lose, double and delay messages. */
public final class TestLines {
    private final long seed = Long.getLong("hongbao.test.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final boolean lossy;
    private final Map<String, Consumer<Buffer>> servers = new ConcurrentHashMap<>();
    private final List<Runnable> late = new ArrayList<>();
    private final AtomicInteger lost = new AtomicInteger();
    private final AtomicInteger doubled = new AtomicInteger();

    private TestLines(boolean lossy) {
        this.lossy = lossy;
    }

    /** One third of all messages is lost, one third comes twice, one of both times maybe after later messages. */
    public static TestLines lossy() {
        return new TestLines(true);
    }

    /** Every message comes once, in order. */
    public static TestLines reliable() {
        return new TestLines(false);
    }

    @Override
    public String toString() {
        return "lines with seed " + seed + ": " + lost + " messages lost, " + doubled + " doubled";
    }

    public int lost() {
        return lost.get();
    }

    public int doubled() {
        return doubled.get();
    }

    /** A server's end. */
    public ServerLine line(String name) {
        return new ServerLine() {
            @Override
            public String self() {
                return name;
            }

            @Override
            public void tellAll(Buffer message) {
                servers.keySet().stream()
                        .filter(server -> !server.equals(name))
                        .forEach(server -> tell(server, message));
            }

            @Override
            public void tell(String server, Buffer message) {
                deliver(server, message);
            }

            @Override
            public void listen(Consumer<Buffer> heard) {
                servers.put(name, heard);
            }

            @Override
            public Future<Void> close() {
                servers.remove(name);
                return Future.succeededFuture();
            }
        };
    }

    private synchronized void deliver(String server, Buffer message) {
        Consumer<Buffer> to = servers.get(server);
        if (to == null) {
            return;
        }
        switch (lossy ? random.nextInt(3) : 2) {
            case 0 -> lost.incrementAndGet();
            case 1 -> {
                doubled.incrementAndGet();
                to.accept(message.copy());
                late.add(() -> to.accept(message.copy()));
            }
            default -> to.accept(message.copy());
        }
        if (late.size() > random.nextInt(20)) {
            late.remove(random.nextInt(late.size())).run();
        }
    }
}
