package dev.hongbao.testing;

import dev.hongbao.engine.ServerLine;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Lines between servers in one JVM: every message comes once, in order. */
public final class TestLines {
    private final Map<String, Consumer<Buffer>> servers = new ConcurrentHashMap<>();

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
                Consumer<Buffer> to = servers.get(server);
                if (to != null) {
                    to.accept(message.copy());
                }
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
}
