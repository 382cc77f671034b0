package dev.hongbao.simulation;

import dev.hongbao.engine.ServerLine;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The messages between servers. Unless all is well, some are lost, doubled or late, and some are noise. */
final class SimulatedBus {
    private final World world;
    private final boolean isWell;
    private final Map<String, End> ends = new LinkedHashMap<>();

    /** In percent. */
    private int lost;

    private record End(World.Host host, Consumer<Buffer> heard) {}

    SimulatedBus(World world, boolean isWell) {
        this.world = world;
        this.isWell = isWell;
    }

    void lose(int percent) {
        lost = percent;
    }

    /** Often of a version and a kind that are known. */
    private Buffer noise() {
        byte[] bytes = new byte[world.random.nextInt(40)];
        world.random.nextBytes(bytes);
        if (bytes.length > 1) {
            bytes[0] = (byte) (1 + world.random.nextInt(5) / 4);
            bytes[1] = (byte) (world.oneIn(3) ? 16 + world.random.nextInt(2) : 1 + world.random.nextInt(5));
        }
        return Buffer.buffer(bytes);
    }

    ServerLine line(World.Host host) {
        return new ServerLine() {
            @Override
            public String self() {
                return host.name;
            }

            @Override
            public void tellAll(Buffer message) {
                List.copyOf(ends.keySet()).forEach(name -> tell(name, message));
            }

            @Override
            public void tell(String server, Buffer message) {
                End to = ends.get(server);
                if (to == null || server.equals(host.name) || world.random.nextInt(100) < lost) {
                    return;
                }
                int times = world.oneIn(10) ? 2 : 1;
                if (!isWell && world.oneIn(20)) {
                    Buffer noise = noise();
                    world.after(world.transit(), to.host, () -> to.heard.accept(noise));
                }
                for (int i = 0; i < times; i++) {
                    long late = !isWell && world.oneIn(20) ? world.millis(0, 400) : world.transit();
                    Buffer copy = message.copy();
                    world.after(late, to.host, () -> to.heard.accept(copy));
                }
            }

            @Override
            public void listen(Consumer<Buffer> heard) {
                ends.put(host.name, new End(host, heard));
            }

            @Override
            public Future<Void> close() {
                ends.remove(host.name);
                return Future.succeededFuture();
            }
        };
    }
}
