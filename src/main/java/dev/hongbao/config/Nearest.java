package dev.hongbao.config;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Guesses the name that a mistyped name stands for. */
public final class Nearest {
    private static final int MAX_EDITS = 3;

    private Nearest() {}

    /** The closest of {@code names} within three edits (Levenshtein), the first of equals; empty when none is close. */
    public static Optional<String> to(String typed, Collection<String> names) {
        return names.stream()
                .filter(name -> edits(typed, name) <= Math.min(MAX_EDITS, name.length() / 2))
                .min(Comparator.comparingInt(name -> edits(typed, name)));
    }

    private static int edits(String a, String b) {
        if (Math.abs(a.length() - b.length()) > MAX_EDITS) {
            return Integer.MAX_VALUE; // a mistyped name may be as long as the file
        }
        int[] row = new int[b.length() + 1];
        Arrays.setAll(row, j -> j);
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }
}
