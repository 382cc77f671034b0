package dev.hongbao.tools.chaos.load;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Plans one rain after the other, and shows every fallen drop to the crowd. Confined to one thread. */
final class RainMaker {
    private static final long LOOK_MILLIS = 500;
    private static final int LASTS_SECONDS = 8;

    /** From one rain to the next: it begins after three seconds. */
    private static final long LIFE_NANOS = TimeUnit.SECONDS.toNanos(LASTS_SECONDS + 4);

    private static final String RAIN = new JsonObject()
            .put("name", "gold")
            .put("asset", "CNY")
            .put("budget", 500)
            .put("groups", new JsonArray().add(Api.GROUP))
            .put("durationSeconds", LASTS_SECONDS)
            .put("drops", 8)
            .put("sharesPerDrop", 5)
            .put("catchesPerUser", 2)
            .encode();

    private final World world;
    private final Set<String> fallen = new HashSet<>();
    private int number;
    private int turn;

    RainMaker(World world) {
        this.world = world;
    }

    /** One rain. */
    void step() throws InterruptedException {
        long until = System.nanoTime() + LIFE_NANOS;
        String key = Preparations.KEY + "rain-" + number++;
        String id = "";
        while (!world.isOver() && System.nanoTime() - until < 0) {
            int server = turn++ % world.api.servers();
            try {
                if (id.isEmpty()) {
                    id = world.api.make(server, "/v1/rains", key, RAIN).getString("id");
                }
                JsonArray drops = world.api.read(server, "/v1/rains/" + id).getJsonArray("fallen", new JsonArray());
                for (int i = 0; i < drops.size(); i++) {
                    String packet = drops.getJsonObject(i).getString("packet");
                    if (fallen.add(packet)) {
                        world.learn(packet);
                    }
                }
            } catch (IOException unanswered) {
                // the next server is asked, with the same key
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
    }
}
