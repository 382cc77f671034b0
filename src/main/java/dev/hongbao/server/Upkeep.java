package dev.hongbao.server;

import dev.hongbao.domain.profile.Profiles;
import dev.hongbao.domain.reconcile.LatestRuns;
import dev.hongbao.engine.postgres.Months;
import dev.hongbao.engine.shard.Shards;
import io.vertx.core.Vertx;
import java.time.Duration;

/** What every server does by the clock, whether it owns shards or not, until its Vert.x closes. */
final class Upkeep {
    private static final Duration MAKE_MONTHS_EVERY = Duration.ofHours(1);
    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

    /** Soon enough for who comes in to be shown under the right name. */
    private static final Duration TAKE_NAMES_EVERY = Duration.ofMillis(200);

    private Upkeep() {}

    static void begin(Foundation base, Profiles profiles, Console console) {
        Vertx vertx = base.vertx();
        vertx.setPeriodic(
                MAKE_MONTHS_EVERY.toMillis(),
                hour -> base.makeMonths()
                        .compose(made -> Months.analyze(base.pools().lengthy())));
        // Also where nobody claims: whether a shard's owner has found that Postgres went back in time.
        Shards shards = base.shards();
        vertx.setPeriodic(LOOK_EVERY.toMillis(), second -> shards.refresh());
        vertx.setPeriodic(TAKE_NAMES_EVERY.toMillis(), again -> profiles.take());
        LatestRuns latest = new LatestRuns(base.pools().lengthy());
        new BackgroundReconcile(
                        latest::read,
                        latest::lag,
                        console::reconcileSinceCheckpoint,
                        base.config().engine().reconcile().every(),
                        base.metrics())
                .start(vertx);
    }
}
