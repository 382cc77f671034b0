package dev.hongbao.tools.bench.article;

import java.util.List;
import java.util.Map;
import java.util.function.IntToLongFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** One article's way of giving shares, or prizes, to many users at once. Blocking; only a {@link Client} is used by a crowd. */
public interface Strategy {
    /** For the reader: which article and what it does. */
    String name();

    /** How many times a claim tells its fault that a step is done. */
    int steps();

    /** Empties its stores and offers that many shares, one for each user of a crowd. */
    Supply fill(int shares) throws Exception;

    /** Connects; for one thread. */
    Client open() throws Exception;

    /**
     * What the article leaves to a later time: by default nothing.
     *
     * @param fates of each part of that work
     */
    default void settle(Supplier<Fault> fates) throws Exception {}

    /** Who has what in the end. */
    List<Grant> granted() throws Exception;

    /** Shares that can still be had. */
    long left() throws Exception;

    /** Empties its stores. */
    void clear() throws Exception;

    /** One client's connections. When its claim failed, it is closed: whoever goes on has another one. */
    interface Client extends AutoCloseable {
        /**
         * One claim of one user, as the article makes it.
         *
         * @param fault hears of each step, and may end the claim there
         */
        Told claim(int user, Fault fault) throws Exception;

        @Override
        void close() throws Exception;
    }

    /** What a user is told. */
    enum Told {
        /** You have one. */
        WON,
        /** There is none for you. */
        NOTHING
    }

    /**
     * What is offered.
     *
     * @param total minor units of all shares together
     * @param holders of a share, by its name: how many may have it
     */
    record Supply(long total, Map<String, Long> holders) {
        public Supply {
            holders = Map.copyOf(holders);
        }

        /** Shares named 0, 1, 2 …, for one user each. @param amount of a share by its number */
        static Supply ofOnes(int shares, IntToLongFunction amount) {
            return new Supply(
                    IntStream.range(0, shares).mapToLong(amount).sum(),
                    IntStream.range(0, shares).boxed().collect(Collectors.toMap(i -> Integer.toString(i), i -> 1L)));
        }
    }

    /** A user has a share. */
    record Grant(int user, String share, long amount) {}
}
