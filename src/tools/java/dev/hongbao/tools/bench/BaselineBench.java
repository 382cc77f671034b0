package dev.hongbao.tools.bench;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.server.StoreAddresses;
import dev.hongbao.server.Stores;
import dev.hongbao.tools.bench.article.Article1;
import dev.hongbao.tools.bench.article.Article2;
import dev.hongbao.tools.bench.article.Article3;
import dev.hongbao.tools.bench.article.Article4;
import dev.hongbao.tools.bench.article.Article5;
import dev.hongbao.tools.bench.article.Crowd;
import dev.hongbao.tools.bench.article.Crowd.Misfortune;
import dev.hongbao.tools.bench.article.Strategy;
import dev.hongbao.tools.bench.article.Violations;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The ways of the five articles: how fast each is, and what each gets wrong, with and without clients that die. */
final class BaselineBench {
    /** No claim takes so long, so that a lock is never lost. */
    private static final Duration EASY = Duration.ofSeconds(10);

    private static final Duration SHORT = Duration.ofMillis(100);
    private static final Duration STALL = Duration.ofMillis(150);
    private static final int ONE_IN = 25;
    private static final int UNLUCKY = 1_000;
    private static final long SEED = 20_170_801;

    private final Findings findings = new Findings("baseline");
    private final List<Contest> contests = new ArrayList<>();
    private final Scale scale;
    private final Consumer<String> progress;

    /** One strategy and what was seen of it. Not thread-safe. */
    private static final class Contest {
        private final Strategy strategy;
        private final Strategy hurried;
        private final int users;
        private final Measurement rate;
        private Violations untroubled = new Violations(0, 0, 0, 0);
        private Violations troubled = new Violations(0, 0, 0, 0);

        /** @param hurried the same with a lock that ends soon, for clients that die with it */
        Contest(Strategy strategy, Strategy hurried, int users, Measurement rate) {
            this.strategy = strategy;
            this.hurried = hurried;
            this.users = users;
            this.rate = rate;
        }
    }

    private BaselineBench(StoreAddresses stores, Scale scale, Consumer<String> progress) {
        this.scale = scale;
        this.progress = progress;
        String redis = stores.redisUrl();
        Strategy first = new Article1(redis, stores.owner());
        Measurement baseline = add(first, first, 100_000, "claims/s", null);
        Strategy second = new Article2(redis);
        add(second, second, 3_000, "plays/s", baseline);
        add(
                new Article3(redis, stores.owner(), EASY),
                new Article3(redis, stores.owner(), SHORT),
                2_000,
                "claims/s",
                baseline);
        add(new Article4(redis, EASY), new Article4(redis, SHORT), 5_000, "plays/s", baseline);
        add(new Article5(redis, EASY), new Article5(redis, SHORT), 5_000, "claims/s", baseline);
    }

    private Measurement add(
            Strategy strategy, Strategy hurried, int users, String unit, @Nullable Measurement baseline) {
        String name = "article " + strategy.name();
        Measurement rate = baseline == null ? findings.measure(name, unit) : findings.measure(name, unit, baseline, 0);
        contests.add(new Contest(strategy, hurried, scale.of(users, 100), rate));
        return rate;
    }

    /** Steps that {@link #run} reports. */
    static int steps(Scale scale) {
        return 5 * scale.rounds();
    }

    /** As {@link ClaimsBench#run}; one round does not warm up, a pass over all ways before it does. */
    static Findings run(Path directory, Scale scale, Consumer<String> progress) throws Exception {
        try (Stores stores = Stores.open(HongbaoConfig.of(Map.of("data.dir", directory.toString())))) {
            BaselineBench bench = new BaselineBench(stores.adminAddresses(), scale, progress);
            bench.findings.on(Machine.versions(stores.addresses()));
            for (int round = 0; round < scale.rounds(); round++) {
                bench.round(round);
            }
            bench.tell();
            return bench.findings;
        }
    }

    /** Article 1's claims a second, as the baseline of other benchmarks; every one of them is checked. */
    static double article1(StoreAddresses stores, int claims) throws Exception {
        Crowd.Race race = Crowd.race(new Article1(stores.redisUrl(), stores.owner()), claims, Misfortune.NONE);
        if (!race.violations().areNone()) {
            throw new IllegalStateException("article 1's loop went wrong without a fault: " + race.violations());
        }
        return race.perSecond();
    }

    private void round(int round) throws Exception {
        List<Contest> order = new ArrayList<>(contests);
        if (round % 2 == 1) {
            Collections.reverse(order);
        }
        for (Contest contest : order) {
            progress.accept("article " + contest.strategy.name());
            if (round == 0) {
                Crowd.race(contest.strategy, contest.users / 4, Misfortune.NONE);
            }
            Crowd.Race race = Crowd.race(contest.strategy, contest.users, Misfortune.NONE);
            contest.rate.add(race.perSecond());
            contest.untroubled = contest.untroubled.plus(race.violations());
            Misfortune misfortune = new Misfortune(SEED + round, ONE_IN, STALL);
            contest.troubled = contest.troubled.plus(Crowd.race(contest.hurried, scale.of(UNLUCKY, 100), misfortune)
                    .violations());
        }
    }

    private void tell() {
        List<List<String>> rows = new ArrayList<>();
        for (Contest contest : contests) {
            rows.add(row(contest.strategy.name(), contest.rate, contest.users, contest.untroubled));
            rows.add(row("  one client in " + ONE_IN + " fails", null, scale.of(UNLUCKY, 100), contest.troubled));
        }
        findings.exhibits()
                .add(new Exhibits.Table(
                        "What the articles' ways got wrong, one share for each user (seed " + SEED
                                + "; a client dies, stalls beyond its lock, or does not hear the answer)",
                        List.of(
                                "article",
                                "users",
                                "per second",
                                "granted twice",
                                "over the total",
                                "shares lost",
                                "told nothing"),
                        rows));
    }

    private List<String> row(String name, @Nullable Measurement rate, int users, Violations violations) {
        return List.of(
                name,
                count((long) users * scale.rounds()),
                rate == null ? "" : count(Math.round(rate.median())),
                count(violations.grantedTwice()),
                count(violations.overTotal()),
                count(violations.lost()),
                count(violations.toldNothing()));
    }

    private static String count(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }
}
