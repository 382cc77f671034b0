package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.load.Api;
import dev.hongbao.tools.chaos.load.World;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Has it rain again and again, and tells everybody of each drop once it has fallen. Its keys begin with {@code setup-}. */
final class RainMaker implements Runnable {
    private static final long LOOK_MILLIS = 500;
    private static final int LASTS_SECONDS = 8;

    /** From the start of a rain to the next one's: it begins after three seconds. */
    private static final long LIFE_NANOS = TimeUnit.SECONDS.toNanos(LASTS_SECONDS + 4);

    private final Api api;
    private final World world;
    private final int servers;
    private final Set<String> fallen = new HashSet<>();
    private volatile boolean stopping;
    private int turn;

    /** @param api closed when it ends */
    RainMaker(Api api, World world) {
        this.api = api;
        this.world = world;
        this.servers = world.servers();
    }

    @Override
    public void run() {
        try (Api closed = api) {
            for (int number = 0; !stopping; number++) {
                rain(number);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private void rain(int number) throws InterruptedException {
        long until = System.nanoTime() + LIFE_NANOS;
        String id = "";
        while (!stopping && System.nanoTime() - until < 0) {
            turn++;
            try {
                if (id.isEmpty()) {
                    id = api.make(turn % servers, "/v1/rains", "setup-rain-" + number, rain())
                            .getString("id");
                }
                drops(api.read(turn % servers, "/v1/rains/" + id));
            } catch (IOException unanswered) {
                // the next server is asked, with the same key
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
    }

    private void drops(JsonObject rain) {
        JsonArray drops = rain.getJsonArray("fallen", new JsonArray());
        for (int i = 0; i < drops.size(); i++) {
            String packet = drops.getJsonObject(i).getString("packet");
            if (fallen.add(packet)) {
                world.learn(packet);
            }
        }
    }

    private static JsonObject rain() {
        return new JsonObject()
                .put("name", "gold")
                .put("asset", "CNY")
                .put("budget", 500)
                .put("groups", new JsonArray().add(Api.GROUP))
                .put("durationSeconds", LASTS_SECONDS)
                .put("drops", 8)
                .put("sharesPerDrop", 5)
                .put("catchesPerUser", 2);
    }

    void stop() {
        stopping = true;
    }
}
