package dev.hongbao.fuzz;

import java.util.List;
import java.util.SplittableRandom;

/**
 * One input: what it holds is drawn from {@code random}, which depends on the seed, the kind and the number only.
 *
 * @param number from 0, in its kind
 */
public record Input(String kind, long number, SplittableRandom random) {
    private static final long STEP = 0x9e3779b97f4a7c15L;

    static Input of(long seed, String kind, long number) {
        return new Input(kind, number, new SplittableRandom(seed * STEP ^ kind.hashCode() * 31L ^ number * STEP));
    }

    /** One of them. */
    public <T> T pick(List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }

    /** One of them. */
    @SafeVarargs
    public final <T> T pick(T... choices) {
        return choices[random.nextInt(choices.length)];
    }

    /** True once in so many times. */
    public boolean oneIn(int times) {
        return random.nextInt(times) == 0;
    }

    /** As it is named when it shall be sent again. */
    String name() {
        return kind + ":" + number;
    }
}
