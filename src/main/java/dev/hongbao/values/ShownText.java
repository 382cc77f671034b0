package dev.hongbao.values;

import java.util.Set;

/**
 * The rules for texts of the host application that people see: a text must not look like another one. Refused are control
 * characters, line and paragraph separators, bidirectional controls, invisible characters and halves of surrogate pairs. The two
 * joiners and the variation selectors are allowed: emoji and some scripts need them.
 */
public final class ShownText {
    private static final int ZERO_WIDTH_NON_JOINER = 0x200C;
    private static final int ZERO_WIDTH_JOINER = 0x200D;

    /** The rule as a sentence that follows a field's name. */
    public static final Text RULE = Text.of("text.shown");

    /**
     * Letters and marks by category that are invisible: fillers of Hangul, Khmer and Mongolian, the grapheme joiner, blank
     * Braille.
     */
    private static final Set<Integer> UNSEEN =
            Set.of(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0);

    private ShownText() {}

    /** Whether a text may be shown unchanged. An empty text may. */
    public static boolean isClean(String text) {
        return text.codePoints().allMatch(ShownText::isClean);
    }

    /**
     * Whether a text may be shown as a name: clean, not blank, without a space at either end.
     *
     * @param max code points
     */
    public static boolean isName(String text, int max) {
        return text.codePoints().anyMatch(ShownText::isSeen)
                && text.strip().equals(text)
                && text.codePointCount(0, text.length()) <= max
                && isClean(text);
    }

    /**
     * A text reduced to its visible characters, without space at its ends: texts that look equal become equal. Joiners and
     * variation selectors go, too.
     */
    public static String seen(String text) {
        return text.codePoints()
                .filter(character -> isClean(character)
                        && Character.getType(character) != Character.FORMAT
                        && !isVariationSelector(character))
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString()
                .strip();
    }

    private static boolean isVariationSelector(int character) {
        return character >= 0xFE00 && character <= 0xFE0F || character >= 0xE0100 && character <= 0xE01EF;
    }

    /** Whether a clean character is visible by itself. */
    private static boolean isSeen(int character) {
        return switch (Character.getType(character)) {
            case Character.SPACE_SEPARATOR, Character.FORMAT, Character.NON_SPACING_MARK, Character.ENCLOSING_MARK ->
                false;
            default -> true;
        };
    }

    private static boolean isClean(int character) {
        return !UNSEEN.contains(character)
                && switch (Character.getType(character)) {
                    case Character.CONTROL,
                            Character.SURROGATE,
                            Character.PRIVATE_USE,
                            Character.LINE_SEPARATOR,
                            Character.PARAGRAPH_SEPARATOR -> false;
                    case Character.FORMAT -> character == ZERO_WIDTH_JOINER || character == ZERO_WIDTH_NON_JOINER;
                    default -> (character & 0xFFFE) != 0xFFFE; // else not a character, in any plane
                };
    }
}
