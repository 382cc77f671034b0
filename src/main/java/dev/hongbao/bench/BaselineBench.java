package dev.hongbao.bench;

import dev.hongbao.bench.article.Article1;
import dev.hongbao.bench.article.Article2;
import dev.hongbao.bench.article.Article3;
import dev.hongbao.bench.article.Article4;
import dev.hongbao.bench.article.Article5;
import dev.hongbao.bench.article.Crowd;
import dev.hongbao.bench.article.Crowd.Misfortune;
import dev.hongbao.bench.article.Way;
import dev.hongbao.bench.article.Wrongs;
import dev.hongbao.config.HongbaoConfig;
import dev.hongbao.server.StoreAddresses;
import dev.hongbao.server.Stores;
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

    /** One way and what was seen of it. Not thread-safe. */
    private static final class Contest {
        private final Way way;
        private final Way hurried;
        private final int users;
        private final Measurement rate;
        private Wrongs untroubled = new Wrongs(0, 0, 0, 0);
        private Wrongs troubled = new Wrongs(0, 0, 0, 0);

        /** @param hurried the same with a lock that ends soon, for clients that die with it */
        Contest(Way way, Way hurried, int users, Measurement rate) {
            this.way = way;
            this.hurried = hurried;
            this.users = users;
            this.rate = rate;
        }
    }

    private BaselineBench(StoreAddresses stores, Scale scale, Consumer<String> progress) {
        this.scale = scale;
        this.progress = progress;
        String redis = stores.redisUrl();
        Way first = new Article1(redis, stores.owner());
        Measurement baseline = add(first, first, 100_000, "claims/s", null);
        Way second = new Article2(redis);
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

    private Measurement add(Way way, Way hurried, int users, String unit, @Nullable Measurement baseline) {
        Measurement rate = findings.measure("article " + way.name(), unit, baseline, 0);
        contests.add(new Contest(way, hurried, scale.of(users, 100), rate));
        return rate;
    }

    /** Steps that {@link #run} reports. */
    static int steps(Scale scale) {
        return 5 * scale.rounds();
    }

    /** As {@link ClaimsBench#run}; one round does not warm up, a pass over all ways before it does. */
    static Findings run(Path directory, Scale scale, Consumer<String> progress) throws Exception {
        try (Stores stores = Stores.open(HongbaoConfig.of(Map.of("data.dir", directory.toString())))) {
            BaselineBench bench = new BaselineBench(stores.addresses(), scale, progress);
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
        if (!race.wrongs().areNone()) {
            throw new IllegalStateException("article 1's loop went wrong without a fault: " + race.wrongs());
        }
        return race.perSecond();
    }

    private void round(int round) throws Exception {
        List<Contest> order = new ArrayList<>(contests);
        if (round % 2 == 1) {
            Collections.reverse(order);
        }
        for (Contest contest : order) {
            progress.accept("article " + contest.way.name());
            if (round == 0) {
                Crowd.race(contest.way, contest.users / 4, Misfortune.NONE);
            }
            Crowd.Race race = Crowd.race(contest.way, contest.users, Misfortune.NONE);
            contest.rate.add(race.perSecond());
            contest.untroubled = contest.untroubled.plus(race.wrongs());
            Misfortune misfortune = new Misfortune(SEED + round, ONE_IN, STALL);
            contest.troubled = contest.troubled.plus(Crowd.race(contest.hurried, scale.of(UNLUCKY, 100), misfortune)
                    .wrongs());
        }
    }

    private void tell() {
        List<List<String>> rows = new ArrayList<>();
        for (Contest contest : contests) {
            rows.add(row(contest.way.name(), contest.rate, contest.users, contest.untroubled));
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

    private List<String> row(String name, @Nullable Measurement rate, int users, Wrongs wrongs) {
        return List.of(
                name,
                count((long) users * scale.rounds()),
                rate == null ? "" : count(Math.round(rate.median())),
                count(wrongs.grantedTwice()),
                count(wrongs.overTotal()),
                count(wrongs.lost()),
                count(wrongs.toldNothing()));
    }

    private static String count(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }
}
