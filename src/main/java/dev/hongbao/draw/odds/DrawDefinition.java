package dev.hongbao.draw.odds;

import dev.hongbao.values.Asset;
import dev.hongbao.values.GroupId;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Metadata;
import dev.hongbao.values.Named;
import dev.hongbao.values.UserId;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A draw's definition, well-formed and consistent ({@link DefinitionText} found no error). Immutable.
 *
 * @param group null for a draw that every user may play
 * @param opensAt null for the time of the creation; never null for an existing draw
 * @param fallback the prize of a play without another one; null for none
 * @param cost of one play; null for a free draw
 * @param allow the only users who may play; empty for all
 * @param deny users who may not play
 * @param schedule null unless the mode is {@code schedule}
 * @param showLeft whether players see the remaining stocks
 */
public record DrawDefinition(
        String name,
        @Nullable GroupId group,
        @Nullable Instant opensAt,
        Instant closesAt,
        Mode mode,
        WhenExhausted whenExhausted,
        List<Prize> prizes,
        @Nullable Prize fallback,
        @Nullable Cost cost,
        Limits limits,
        List<Guarantee> guarantees,
        @Nullable Schedule schedule,
        Set<UserId> allow,
        Set<UserId> deny,
        boolean showLeft,
        Metadata metadata) {
    /** The most releases of one period: the limit of one script call. */
    public static final int MAX_RELEASES = 50_000;

    public DrawDefinition {
        prizes = List.copyOf(prizes);
        guarantees = List.copyOf(guarantees);
        allow = inOrder(allow);
        deny = inOrder(deny);
    }

    /** Sorted by id. Repeated requests are compared as text, so the order must be the same in every JVM. */
    private static Set<UserId> inOrder(Set<UserId> users) {
        Set<UserId> sorted = new TreeSet<>(Comparator.comparing(UserId::value));
        sorted.addAll(users);
        return Collections.unmodifiableSet(sorted);
    }

    /**
     * Reads a maker's definition.
     *
     * @param body maps, lists, texts, whole numbers and booleans, as JSON and YAML decode
     * @throws InvalidInputException with all faults
     */
    public static DrawDefinition read(Map<String, ?> body) {
        return DefinitionText.read(body);
    }

    /** Reads a definition from {@link #stored}. */
    public static DrawDefinition readStored(Map<String, ?> body) {
        return DefinitionText.readStored(body);
    }

    /** The stored form: the maker's fields, without the codes, which have their own table. */
    public Map<String, Object> stored() {
        return DefinitionText.of(this);
    }

    /**
     * Checks it again when more of it is known.
     *
     * @throws InvalidInputException with all faults
     */
    public void require() {
        DefinitionChecks.require(this);
    }

    /**
     * Checks the rules for new draws, which older draws may break.
     *
     * @throws InvalidInputException with all faults
     */
    public void requireOfNew() {
        DefinitionChecks.requireOfNew(this);
    }

    /**
     * The cost of a play.
     *
     * @param amount minor units, more than 0
     */
    public record Cost(Asset asset, long amount) {}

    /**
     * The limits on one user's plays; 0 for no limit.
     *
     * @param zone of the days
     */
    public record Limits(long total, long perDay, ZoneId zone) {}

    /**
     * 保底: the n-th play in a row without a prize of the category gives one.
     *
     * @param plays n, at least 1
     */
    public record Guarantee(String category, int plays) {}

    /**
     * The times of prizes.
     *
     * @param period the length of a period, counted from the opening
     * @param carryOver whether an untaken release stays for later; else it returns to the stock when its period ends
     * @param boosts periods with more releases
     */
    public record Schedule(Duration period, boolean carryOver, List<Boost> boosts) {
        public Schedule {
            boosts = List.copyOf(boosts);
        }
    }

    /** Periods that start in [from, to) release {@code times} the quota; 0 pauses. Of overlapping boosts the first counts. */
    public record Boost(Instant from, Instant to, int times) {}

    /** All prizes by number, from 1. The fallback is the last. */
    public List<Prize> allPrizes() {
        List<Prize> all = new ArrayList<>(prizes);
        if (fallback != null) {
            all.add(fallback);
        }
        return all;
    }

    /**
     * Whether the group's feed announces a win of the prize with that number, from 1. True for an award or a category; false for a
     * consolation and the fallback.
     */
    public boolean isAnnounced(int number) {
        return number <= prizes.size() && prizes.get(number - 1).isWin();
    }

    /** A copy with a fixed opening. */
    public DrawDefinition openedAt(Instant opening) {
        return of(name, closesAt, mode, prizes)
                .opensAt(opening)
                .group(group)
                .whenExhausted(whenExhausted)
                .fallback(fallback)
                .cost(cost)
                .limits(limits)
                .guarantees(guarantees)
                .schedule(schedule)
                .users(allow, deny)
                .showLeft(showLeft)
                .metadata(metadata)
                .build();
    }

    /** The opening of an existing draw. */
    public Instant opening() {
        return Objects.requireNonNull(opensAt);
    }

    /** Whether the allow and deny lists admit a user. */
    public boolean admits(UserId user) {
        return !deny.contains(user) && (allow.isEmpty() || allow.contains(user));
    }

    /** The day, in the draw's zone, as days since 1970-01-01. */
    public long dayOf(Instant moment) {
        return LocalDate.ofInstant(moment, limits.zone).toEpochDay();
    }

    /** The number of periods from the opening to the close; the last may be shorter. 0 without a schedule. */
    public int periods() {
        if (schedule == null) {
            return 0;
        }
        long open = Duration.between(opening(), closesAt).toMillis();
        return Math.toIntExact((open + schedule.period.toMillis() - 1) / schedule.period.toMillis());
    }

    /** The start of a period, from 0; also the end of the one before. */
    public Instant periodStart(int period) {
        Instant start = opening().plus(Objects.requireNonNull(schedule).period.multipliedBy(period));
        return start.isBefore(closesAt) ? start : closesAt;
    }

    /** A prize's quota in a period, before the limit of its stock. */
    public long quota(Prize prize, int period) {
        Instant start = periodStart(period);
        for (Boost boost : Objects.requireNonNull(schedule).boosts) {
            if (!start.isBefore(boost.from) && start.isBefore(boost.to)) {
                return Math.multiplyExact(prize.chance(), boost.times);
            }
        }
        return prize.chance();
    }

    /** The rules in the script's form. */
    public DrawRules rules() {
        boolean scheduled = mode == Mode.SCHEDULE;
        List<DrawRules.Prize> numbers = new ArrayList<>();
        for (Prize prize : allPrizes()) {
            // A scheduled prize leaves the stock when it is put on the schedule.
            boolean unlimited = prize.stock() == null || (scheduled && prize != fallback);
            numbers.add(new DrawRules.Prize(
                    scheduled ? 0 : prize.chance(),
                    unlimited ? -1 : Objects.requireNonNull(prize.stock()),
                    prize.perUser(),
                    guaranteeOf(prize)));
        }
        return new DrawRules(
                mode,
                whenExhausted,
                numbers,
                fallback == null ? 0 : numbers.size(),
                limits.total,
                limits.perDay,
                guarantees.stream().map(Guarantee::plays).toList(),
                new DrawRules.Periods(
                        scheduled ? opening().toEpochMilli() : 0,
                        scheduled ? Objects.requireNonNull(schedule).period.toMillis() : 1,
                        schedule == null || schedule.carryOver));
    }

    private int guaranteeOf(Prize prize) {
        for (int g = 0; g < guarantees.size(); g++) {
            if (guarantees.get(g).category.equals(prize.category())) {
                return g + 1;
            }
        }
        return 0;
    }

    /** Starts with the mandatory fields. The others have their defaults: open to all, now, free, without limits. */
    public static Builder of(String name, Instant closesAt, Mode mode, List<Prize> prizes) {
        return new Builder(name, closesAt, mode, prizes);
    }

    /** Builds a definition field by field. Null stands for none. */
    public static final class Builder {
        private final String name;
        private final Instant closesAt;
        private final Mode mode;
        private final List<Prize> prizes;
        private @Nullable GroupId group;
        private @Nullable Instant opensAt;
        private WhenExhausted whenExhausted = WhenExhausted.STOP;
        private @Nullable Prize fallback;
        private @Nullable Cost cost;
        private Limits limits = new Limits(0, 0, ZoneOffset.UTC);
        private List<Guarantee> guarantees = List.of();
        private @Nullable Schedule schedule;
        private Set<UserId> allow = Set.of();
        private Set<UserId> deny = Set.of();
        private boolean showLeft;
        private Metadata metadata = Metadata.NONE;

        private Builder(String name, Instant closesAt, Mode mode, List<Prize> prizes) {
            this.name = name;
            this.closesAt = closesAt;
            this.mode = mode;
            this.prizes = prizes;
        }

        public Builder group(@Nullable GroupId id) {
            this.group = id;
            return this;
        }

        public Builder opensAt(@Nullable Instant moment) {
            this.opensAt = moment;
            return this;
        }

        public Builder whenExhausted(WhenExhausted then) {
            this.whenExhausted = then;
            return this;
        }

        public Builder fallback(@Nullable Prize prize) {
            this.fallback = prize;
            return this;
        }

        public Builder cost(@Nullable Cost ofOnePlay) {
            this.cost = ofOnePlay;
            return this;
        }

        public Builder limits(Limits ofOneUser) {
            this.limits = ofOneUser;
            return this;
        }

        public Builder guarantees(List<Guarantee> all) {
            this.guarantees = all;
            return this;
        }

        public Builder schedule(@Nullable Schedule releases) {
            this.schedule = releases;
            return this;
        }

        public Builder users(Set<UserId> allowed, Set<UserId> denied) {
            this.allow = allowed;
            this.deny = denied;
            return this;
        }

        public Builder showLeft(boolean shown) {
            this.showLeft = shown;
            return this;
        }

        public Builder metadata(Metadata words) {
            this.metadata = words;
            return this;
        }

        public DrawDefinition build() {
            return new DrawDefinition(
                    name,
                    group,
                    opensAt,
                    closesAt,
                    mode,
                    whenExhausted,
                    prizes,
                    fallback,
                    cost,
                    limits,
                    guarantees,
                    schedule,
                    allow,
                    deny,
                    showLeft,
                    metadata);
        }
    }

    /** The action after a table's round is played to its end. */
    public enum WhenExhausted implements Named {
        /** Further plays are refused. */
        STOP,
        /** A new round of the full table, while limited prizes have their full count left. */
        REPEAT,
        /**
         * A new round from the rest: exhausted prizes leave, and the others keep their proportions. A limited prize with less than its count
         * left gives its rest.
         */
        RESCALE,
        /** Every further play gets the fallback prize. */
        FALLBACK
    }

    /** The way a draw decides. */
    public enum Mode implements Named {
        /** Exact counts: a round of N = Σ counts plays gives each prize exactly its count (article 2). */
        TABLE,
        /** Independent odds: weight / Σ weights, at every play. */
        WEIGHTS,
        /** Prizes are released at random moments; a play takes the earliest due one (article 4). */
        SCHEDULE
    }
}
