package dev.hongbao.tools.demo;

import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A rain in the demo: everybody taps every drop that has fallen, a member catches one share, and one drop more falls than they can
 * catch: it goes back to the shop. Call it on an event loop.
 */
final class DemoRain {
    private static final int DROPS = 6;
    private static final int SHARE = 20;
    private static final Duration UNTIL_START = Duration.ofSeconds(1);
    private static final int SECONDS = 6; // so that the last drop has a second and a half

    private final DemoScene scene;
    private final int perDrop;
    private final Set<String> tapped = new HashSet<>();
    private final List<Future<Boolean>> taps = new ArrayList<>();

    /** @param scene with as many members as divide by one less than {@link #DROPS} */
    DemoRain(DemoScene scene) {
        this.scene = scene;
        this.perDrop = scene.members().size() / (DROPS - 1);
    }

    /** Plays it to its end; what is wrong is in the tally. */
    Future<DemoResult.Rain> run() {
        JsonObject definition = new JsonObject()
                .put("name", "New Year's Eve")
                .put("asset", "CNY")
                .put("budget", DROPS * perDrop * SHARE)
                .put("groups", new JsonArray().add(DemoPlan.GROUP))
                .put("startsAt", Instant.now().plus(UNTIL_START).toString())
                .put("durationSeconds", SECONDS)
                .put("drops", DROPS)
                .put("sharesPerDrop", perDrop)
                .put("split", "equal")
                .put("catchesPerUser", 1);
        return scene.make("/v1/rains", definition)
                .compose(path -> tapUntilOver(path)
                        .compose(over -> Future.all(taps))
                        .compose(all -> scene.returnedBy(path, "ended"))
                        .map(this::result));
    }

    private Future<Void> tapUntilOver(String path) {
        return scene.client()
                .get(path, scene.tokens().apply(scene.members().get(0)))
                .compose(view -> {
                    view.body().getJsonArray("fallen", new JsonArray()).forEach(drop -> tap(((JsonObject) drop)));
                    String status = view.body().getString("status", "ended");
                    return status.equals("planned") || status.equals("falling")
                            ? scene.vertx()
                                    .timer(DemoScene.POLL_MILLIS, TimeUnit.MILLISECONDS)
                                    .compose(later -> tapUntilOver(path))
                            : Future.succeededFuture();
                });
    }

    private void tap(JsonObject drop) {
        String packet = drop.getString("packet");
        if (tapped.add(packet)) {
            scene.members().forEach(member -> taps.add(scene.claim(packet, member)));
        }
    }

    private DemoResult.Rain result(long returned) {
        int caught = (int) taps.stream().filter(Future::result).count();
        if (tapped.size() != DROPS || caught != scene.members().size()) {
            scene.tally()
                    .fault("rain: " + caught + " caught of " + tapped.size() + " drops, expected one by each of "
                            + scene.members().size() + " members, and " + DROPS + " drops");
        }
        if (returned != (long) perDrop * SHARE) {
            scene.tally().fault("rain: " + returned + " returned, expected " + perDrop * SHARE);
        }
        return new DemoResult.Rain(tapped.size(), caught, returned);
    }
}
