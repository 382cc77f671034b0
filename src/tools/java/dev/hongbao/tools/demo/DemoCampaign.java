package dev.hongbao.tools.demo;

import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * A campaign in the demo: a shop pays for pools that have a share for each member in all, a member has one, everybody races for all
 * pools at once, and what is left goes back to the shop. Call it on an event loop.
 */
final class DemoCampaign {
    private static final int POOLS = 4;
    private static final int SHARE = 20;
    private static final long LEFT = 1_000;
    private static final Duration LENGTH = Duration.ofHours(1);

    private final DemoScene scene;

    /** @param scene with as many members as divide by {@link #POOLS} */
    DemoCampaign(DemoScene scene) {
        this.scene = scene;
    }

    /** Plays it to its end; what is wrong is in the tally. */
    Future<DemoResult.Campaign> run() {
        int shares = scene.members().size() / POOLS;
        JsonObject definition = new JsonObject()
                .put("name", "Spring shoes")
                .put("asset", "CNY")
                .put("budget", (long) SHARE * scene.members().size() + LEFT)
                .put("endsAt", Instant.now().plus(LENGTH).toString())
                .put(
                        "pool",
                        new JsonObject()
                                .put("shares", shares)
                                .put("amount", SHARE * shares)
                                .put("split", "equal")
                                .put("livesSeconds", LENGTH.toSeconds()))
                .put("claiming", new JsonObject().put("total", 1));
        return scene.make("/v1/campaigns", definition)
                .compose(path -> open(path)
                        .compose(this::race)
                        .compose(winners -> end(path).map(returned -> result(winners, returned))));
    }

    private Future<List<String>> open(String path) {
        List<Future<DemoClient.Answer>> openings = IntStream.range(0, POOLS)
                .mapToObj(i -> scene.client()
                        .post(
                                path + "/pools",
                                scene.tokens().apply(scene.members().get(i)),
                                new JsonObject().put("product", "sku-" + i).put("group", DemoPlan.GROUP)))
                .toList();
        return Future.all(openings)
                .map(all -> openings.stream()
                        .map(opening -> {
                            scene.tally().expect(201, opening.result(), "pool");
                            return opening.result().body().getString("id", "");
                        })
                        .toList());
    }

    /** Everybody claims on every pool. @return who has a share */
    private Future<List<String>> race(List<String> pools) {
        List<String> winners = new ArrayList<>();
        List<Future<Void>> claims = new ArrayList<>();
        for (String member : scene.members()) {
            for (String pool : pools) {
                claims.add(scene.claim(pool, member)
                        .onSuccess(won -> {
                            if (won) {
                                winners.add(member);
                            }
                        })
                        .mapEmpty());
            }
        }
        return Future.all(claims).map(winners);
    }

    private Future<Long> end(String path) {
        return scene.client()
                .post(path + "/end", scene.service(), null)
                .compose(ended -> scene.returnedBy(path, "closed"));
    }

    private DemoResult.Campaign result(List<String> winners, long returned) {
        int members = scene.members().size();
        Set<String> different = new HashSet<>(winners);
        if (winners.size() != members || different.size() != members) {
            scene.tally()
                    .fault("campaign: " + winners.size() + " claims of " + different.size()
                            + " members, expected one each of " + members);
        }
        if (returned != LEFT) {
            scene.tally().fault("campaign: " + returned + " returned, expected " + LEFT);
        }
        return new DemoResult.Campaign(POOLS, winners.size(), returned);
    }
}
