package dev.hongbao.draw.odds;

import dev.hongbao.draw.odds.DrawDefinition.Mode;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A draw in memory, with the same decisions as {@code play.lua}. For {@code draw simulate}, and as the model in tests of the script. Both
 * use the same random numbers in the same order. Not thread-safe.
 */
public final class DrawModel {
    private final DrawRules rules;
    private final Chance chance;
    private final long[] stock;
    private final long[] chances;
    private final long sumOfChances;
    private final Map<String, Player> players = new HashMap<>();
    /** Untaken releases, in the order in which they are due. */
    private final TreeMap<Due, Release> releases = new TreeMap<>();

    private long[] left;
    private long leftInRound;
    private long round = 1;
    /** The current play's release; null for none. */
    private @Nullable Release taken;

    public DrawModel(DrawRules rules, Chance chance) {
        this.rules = rules;
        this.chance = chance;
        this.stock = rules.prizes().stream().mapToLong(DrawRules.Prize::stock).toArray();
        this.chances =
                rules.prizes().stream().mapToLong(DrawRules.Prize::chance).toArray();
        this.sumOfChances = Arrays.stream(chances).sum();
        this.left = new long[stock.length];
        if (rules.mode() == Mode.TABLE) {
            startRound();
        }
    }

    /**
     * A scheduled prize.
     *
     * @param period from 0
     * @param prize its number, from 1
     * @param number its place among the prize's moments in the period, from 1
     */
    public record Release(int period, int prize, int number) {
        /** The name in Redis. */
        @Override
        public String toString() {
            return period + ":" + prize + ":" + number;
        }
    }

    /** A release's due moment. Releases of one moment are sorted by their names' bytes, as in a sorted set of Redis. */
    private record Due(long moment, String name) implements Comparable<Due> {
        @Override
        public int compareTo(Due other) {
            int byMoment = Long.compare(moment, other.moment);
            return byMoment != 0 ? byMoment : name.compareTo(other.name);
        }
    }

    /** A user's counters. */
    private static final class Player {
        private long plays;
        private long day = Long.MIN_VALUE;
        private long playsToday;
        private final long[] without;
        private final long[] wins;

        Player(int guarantees, int prizes) {
            without = new long[guarantees];
            wins = new long[prizes];
        }
    }

    /** The reason of a refused play. */
    public enum Refused {
        /** The user has used all plays. */
        LIMIT,
        /** The user has used all plays of the day. */
        DAILY_LIMIT,
        /** No prize is left. */
        EXHAUSTED
    }

    /**
     * The result of a play.
     *
     * @param prize the number of the prize; 0 when refused
     * @param round of the table, from 1
     * @param release the taken one; null for none
     * @param refused null when a prize was given
     */
    public record Result(
            int prize,
            long round,
            @Nullable Release release,
            @Nullable Refused refused) {}

    /** Puts a prize on the schedule. */
    public void release(Release release, long moment) {
        releases.put(new Due(moment, release.toString()), release);
    }

    /** Whether a release is on the schedule and untaken. */
    public boolean has(Release release, long moment) {
        return releases.containsKey(new Due(moment, release.toString()));
    }

    /** Removes all releases before a moment from the schedule. */
    public void withdraw(long beforeMoment) {
        releases.headMap(new Due(beforeMoment, "")).clear();
    }

    /** The number of releases on the schedule. */
    public int released() {
        return releases.size();
    }

    /** The rest of a prize: of the round in tables, of the stock in other modes (-1: no limit). */
    public long left(int prize) {
        return rules.mode() == Mode.TABLE && prize != rules.fallback() ? left[prize - 1] : stock[prize - 1];
    }

    /**
     * Plays once.
     *
     * @param nowMillis the time of the play
     * @param day the local day of the play
     */
    public Result play(String user, long nowMillis, long day) {
        Player player = players.computeIfAbsent(
                user,
                name -> new Player(rules.guarantees().size(), rules.prizes().size()));
        if (rules.total() > 0 && player.plays >= rules.total()) {
            return refused(Refused.LIMIT);
        }
        long today = Math.max(day, player.day);
        long playsToday = today == player.day ? player.playsToday : 0;
        if (rules.perDay() > 0 && playsToday >= rules.perDay()) {
            return refused(Refused.DAILY_LIMIT);
        }
        taken = null;
        int prize = guaranteed(player, nowMillis);
        if (prize == 0) {
            prize = switch (rules.mode()) {
                case TABLE -> fromTable(player);
                case WEIGHTS -> byWeight(player);
                case SCHEDULE -> due(player, nowMillis, nowMillis, 0);
            };
        }
        if (prize == 0) {
            prize = rules.fallback();
            if (prize == 0 || stock[prize - 1] == 0) {
                return refused(Refused.EXHAUSTED);
            }
        }
        take(prize);
        player.plays++;
        player.day = today;
        player.playsToday = playsToday + 1;
        player.wins[prize - 1]++;
        for (int g = 0; g < player.without.length; g++) {
            player.without[g] = rules.prize(prize).guarantee() == g + 1 ? 0 : player.without[g] + 1;
        }
        return new Result(prize, round, taken, null);
    }

    private Result refused(Refused why) {
        return new Result(0, round, null, why);
    }

    private void take(int prize) {
        if (stock[prize - 1] > 0) {
            stock[prize - 1]--;
        }
        if (rules.mode() == Mode.TABLE && prize != rules.fallback()) {
            left[prize - 1]--;
            leftInRound--;
        }
    }

    private boolean mayWin(Player player, int prize) {
        int perUser = rules.prize(prize).perUser();
        return stock[prize - 1] != 0 && (perUser == 0 || player.wins[prize - 1] < perUser);
    }

    /** The prize that a guarantee gives now; 0 for none. */
    private int guaranteed(Player player, long nowMillis) {
        List<Integer> guarantees = rules.guarantees();
        for (int g = 1; g <= guarantees.size(); g++) {
            if (player.without[g - 1] >= guarantees.get(g - 1) - 1) {
                int prize = rules.mode() == Mode.SCHEDULE
                        ? due(player, nowMillis, Long.MAX_VALUE, g)
                        : pick(player, rules.mode() == Mode.TABLE ? left : chances, g);
                if (prize > 0) {
                    return prize;
                }
            }
        }
        return 0;
    }

    /** Picks one of the prizes that the user may win, in proportion; 0 when there is none. */
    private int pick(Player player, long[] proportions, int guarantee) {
        long sum = 0;
        for (int prize = 1; prize <= proportions.length; prize++) {
            if (isCandidate(player, prize, guarantee)) {
                sum += proportions[prize - 1];
            }
        }
        if (sum == 0) {
            return 0;
        }
        long at = chance.below(sum);
        for (int prize = 1; prize <= proportions.length; prize++) {
            if (isCandidate(player, prize, guarantee)) {
                at -= proportions[prize - 1];
                if (at < 0) {
                    return prize;
                }
            }
        }
        throw new AssertionError("a number beyond the sum");
    }

    private boolean isCandidate(Player player, int prize, int guarantee) {
        return mayWin(player, prize) && (guarantee == 0 || rules.prize(prize).guarantee() == guarantee);
    }

    private int fromTable(Player player) {
        if (leftInRound == 0) {
            round++;
            startRound();
            if (leftInRound == 0) {
                round--;
                return 0;
            }
        }
        return pick(player, left, 0);
    }

    private void startRound() {
        left = rules.roundCounts(stock, round);
        leftInRound = Arrays.stream(left).sum();
    }

    private int byWeight(Player player) {
        long at = chance.below(sumOfChances);
        for (int prize = 1; prize <= stock.length; prize++) {
            at -= rules.prize(prize).chance();
            if (at < 0) {
                return mayWin(player, prize) ? prize : 0;
            }
        }
        throw new AssertionError("a number beyond the sum");
    }

    /** Takes the earliest release up to a moment that the user may win; 0 for none. */
    private int due(Player player, long nowMillis, long untilMillis, int guarantee) {
        long from = rules.periods().carryOver() ? Long.MIN_VALUE : periodStart(nowMillis);
        for (Map.Entry<Due, Release> each : releases.tailMap(new Due(from, "")).entrySet()) {
            if (each.getKey().moment > untilMillis) {
                return 0;
            }
            Release release = each.getValue();
            if (isCandidate(player, release.prize, guarantee)) {
                releases.remove(each.getKey());
                taken = release;
                return release.prize;
            }
        }
        return 0;
    }

    private long periodStart(long nowMillis) {
        long since = nowMillis - rules.periods().originMillis();
        return nowMillis - Math.floorMod(since, rules.periods().lengthMillis());
    }
}
