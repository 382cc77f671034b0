package dev.hongbao.tools.chaos;

import dev.hongbao.tools.chaos.check.Told;
import dev.hongbao.tools.chaos.load.Api;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The host's backend: reads the outbox, at one server after the other, and keeps what it is told. */
final class OutboxFollower implements Runnable {
    private static final long PAUSE_MILLIS = 200;
    private static final int PAGE = 1_000;
    private static final Set<String> OF_PACKETS = Set.of("packet.sent", "packet.drained", "packet.refunded");

    private final Api api;
    private final int servers;
    private final List<Told> told = new ArrayList<>();
    private volatile boolean stopping;

    /** @param api for its thread alone; closed with it */
    OutboxFollower(Api api, int servers) {
        this.api = api;
        this.servers = servers;
    }

    @Override
    public void run() {
        String cursor = "";
        try (Api closed = api) {
            for (int turn = 0; !stopping; turn++) {
                try {
                    cursor = keep(api.read(turn % servers, path(cursor)), told);
                } catch (IOException unanswered) {
                    // the next server is asked
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    void stop() {
        stopping = true;
    }

    /** What it was told; once its thread has ended. */
    List<Told> told() {
        return told;
    }

    /** Everything from the beginning, when nothing new comes any more. */
    static List<Told> all(Api api) throws IOException, InterruptedException {
        List<Told> all = new ArrayList<>();
        String cursor = "";
        int before;
        do {
            before = all.size();
            cursor = keep(api.readAgain(0, path(cursor), ""), all);
        } while (all.size() > before);
        return all;
    }

    private static String path(String cursor) {
        return "/v1/outbox?limit=" + PAGE + (cursor.isEmpty() ? "" : "&after=" + cursor);
    }

    private static String keep(JsonObject page, List<Told> to) {
        JsonArray items = page.getJsonArray("items");
        for (int i = 0; i < items.size(); i++) {
            to.add(told(items.getJsonObject(i)));
        }
        return page.getString("next");
    }

    /** An event as it is in a page, and in a webhook's message. */
    static Told told(JsonObject event) {
        JsonObject data = event.getJsonObject("data");
        String type = event.getString("type");
        boolean isClaim = type.equals("claim.settled");
        return new Told(
                event.getString("id"),
                type,
                isClaim || OF_PACKETS.contains(type) ? data.getString("packet") : "",
                isClaim ? data.getInteger("slot") : -1,
                event.encode());
    }
}
