package dev.hongbao.values;

/** Cells of CSV (RFC 4180). */
public final class Csv {
    private Csv() {}

    /** A cell, quoted if necessary. A leading apostrophe keeps a spreadsheet from running the text as a formula. */
    public static String cell(String text) {
        String safe = !text.isEmpty() && "=+-@\t\r".indexOf(text.charAt(0)) >= 0 ? "'" + text : text;
        boolean quoted = safe.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
        return quoted ? '"' + safe.replace("\"", "\"\"") + '"' : safe;
    }
}
