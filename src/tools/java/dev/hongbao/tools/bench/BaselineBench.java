package dev.hongbao.tools.bench;

import dev.hongbao.store.Stores.StoreAddresses;
import dev.hongbao.tools.bench.article.Article1;
import dev.hongbao.tools.bench.article.Article2;
import dev.hongbao.tools.bench.article.Article3;
import dev.hongbao.tools.bench.article.Article4;
import dev.hongbao.tools.bench.article.Article5;
import dev.hongbao.tools.bench.article.Crowd;
import dev.hongbao.tools.bench.article.Crowd.Misfortune;
import dev.hongbao.tools.bench.article.Strategy;
import dev.hongbao.tools.bench.article.Violations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The designs of the five articles: the speed of each, and its errors with and without clients that fail. */
final class BaselineBench extends Part.OfEngine {
    /** Longer than any claim, so that nobody loses a lock. */
    private static final Duration EASY = Duration.ofSeconds(10);

    /** Of the clients that fail: shorter than a stall. */
    private static final Duration SHORT = Duration.ofMillis(100);

    /** Of the first round's faults. Each round has the next one. */
    private static final long SEED = 20_170_801;

    private static final int ONE_IN = 25;
    private static final Duration STALL = Duration.ofMillis(150);
    private static final int TROUBLED = 1_000;

    private @Nullable Row loop;

    BaselineBench(BenchBed bed) {
        super(bed);
        StoreAddresses stores = bed.stores();
        Strategy first = new Article1(stores);
        add(first, first, 100_000);
        Strategy second = new Article2(stores);
        add(second, second, 3_000);
        add(new Article3(stores, EASY), new Article3(stores, SHORT), 2_000);
        add(new Article4(stores, EASY), new Article4(stores, SHORT), 5_000);
        add(new Article5(stores, EASY), new Article5(stores, SHORT), 5_000);
    }

    /** @param hurried the same design with a short lock, for clients that fail */
    private void add(Strategy design, Strategy hurried, int users) {
        String name = "article " + design.name();
        Row rate = trial.row(name, "shares/s");
        if (loop == null) {
            loop = rate;
        } else {
            rate.over(loop);
        }
        Errors without = new Errors("  errors of all clients");
        Errors with = new Errors("  errors when one client in " + ONE_IN + " fails");
        step(name, () -> {
            int round = rate.rounds().size();
            Crowd.Race race = Crowd.race(design, trial.size(users, 100), Misfortune.NONE);
            rate.add(race.perSecond());
            without.add(race.violations());
            Misfortune trouble = new Misfortune(SEED + round, ONE_IN, STALL);
            with.add(Crowd.race(hurried, trial.size(TROUBLED, 100), trouble).violations());
        });
    }

    /** Rows of errors, a round each. */
    private final class Errors {
        private final Row twice;
        private final Row over;
        private final Row lost;
        private final Row nothing;

        Errors(String name) {
            twice = trial.row(name + ": granted twice", "shares").once();
            over = trial.row("    paid beyond the total", "cents").once();
            lost = trial.row("    lost", "shares").once();
            nothing = trial.row("    users who wrongly got nothing", "users").once();
        }

        void add(Violations found) {
            twice.add(found.grantedTwice());
            over.add(found.overTotal());
            lost.add(found.lost());
            nothing.add(found.toldNothing());
        }
    }

    /** Article 1's claims a second, the baseline of other benchmarks. Fails on an error. */
    static double article1(StoreAddresses stores, int claims) throws Exception {
        Crowd.Race race = Crowd.race(new Article1(stores), claims, Misfortune.NONE);
        if (!race.violations().areNone()) {
            throw new IllegalStateException("article 1's loop was wrong without a fault: " + race.violations());
        }
        return race.perSecond();
    }
}
