package dev.hongbao.cli;

import java.util.ArrayList;
import java.util.List;

/**
 * A histogram of amounts, as text for a terminal: one line for each range of amounts, with a bar of its count.
 *
 * <p>Immutable. The ranges are equally wide, except that the last one ends at the largest amount.
 */
final class Histogram {
    /** From an empty column to seven eighths. */
    private static final String[] EIGHTHS = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

    private final long least;
    private final long most;
    private final long rangeWidth;
    private final int[] counts;

    private Histogram(long least, long most, long rangeWidth, int[] counts) {
        this.least = least;
        this.most = most;
        this.rangeWidth = rangeWidth;
        this.counts = counts;
    }

    /**
     * Counts the amounts.
     *
     * @param amounts at least one, each from 1 to 10^14; not kept
     * @param maxRows the most ranges, 1 to 1,000; fewer are used for fewer different amounts
     * @throws IllegalArgumentException when there is no amount, or a value is out of range
     */
    public static Histogram of(long[] amounts, int maxRows) {
        if (amounts.length == 0 || maxRows < 1 || maxRows > 1_000) {
            throw new IllegalArgumentException(amounts.length + " amounts in " + maxRows + " rows");
        }
        long least = Long.MAX_VALUE;
        long most = 0;
        for (long amount : amounts) {
            if (amount < 1 || amount > 100_000_000_000_000L) {
                throw new IllegalArgumentException("amount " + amount);
            }
            least = Math.min(least, amount);
            most = Math.max(most, amount);
        }
        long values = most - least + 1;
        long rangeWidth = (values + maxRows - 1) / maxRows;
        int[] counts = new int[(int) ((values + rangeWidth - 1) / rangeWidth)];
        for (long amount : amounts) {
            counts[(int) ((amount - least) / rangeWidth)]++;
        }
        return new Histogram(least, most, rangeWidth, counts);
    }

    /**
     * One line for each range, from the smallest amounts: the range, the bar, the count. A count above 0 always shows.
     *
     * @param columns the width of a line. Labels are never cut, and a bar has at least 8 columns, so lines may be longer below 60
     */
    public List<String> lines(int columns) {
        int amountColumns = Long.toString(most).length();
        int largest = 0;
        for (int count : counts) {
            largest = Math.max(largest, count);
        }
        int labelColumns = rangeWidth == 1 ? amountColumns : 2 * amountColumns + " – ".length();
        int countColumns = Integer.toString(largest).length();
        int barColumns = Math.max(8, columns - labelColumns - " │".length() - 1 - countColumns);

        List<String> lines = new ArrayList<>(counts.length);
        for (int row = 0; row < counts.length; row++) {
            long from = least + row * rangeWidth;
            String label = padded(from, amountColumns);
            if (rangeWidth > 1) {
                label += " – " + padded(Math.min(most, from + rangeWidth - 1), amountColumns);
            }
            String bar = bar(counts[row], largest, barColumns);
            lines.add(label + " │" + bar + (bar.isEmpty() ? "" : " ") + counts[row]);
        }
        return lines;
    }

    private static String bar(int count, int largest, int columns) {
        int eighths = (int) ((long) count * columns * 8 / largest);
        if (count > 0) {
            eighths = Math.max(1, eighths);
        }
        return "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    }

    private static String padded(long amount, int columns) {
        String digits = Long.toString(amount);
        return " ".repeat(columns - digits.length()) + digits;
    }
}
