package dev.hongbao.common.values;

import dev.hongbao.common.json.Text;
import java.util.Set;

/**
 * Text of the host application that people are shown on one line or some: it must not look like something else. Refused are control
 * characters, line and paragraph separators, what turns the direction of writing (Unicode's bidirectional controls) or cannot be seen,
 * and halves of surrogate pairs. The two joiners and what selects a variation stay, since emoji and some scripts are written with them.
 */
public final class ShownText {
    private static final int ZERO_WIDTH_NON_JOINER = 0x200C;
    private static final int ZERO_WIDTH_JOINER = 0x200D;

    /** The rule in words that follow a field's name. */
    public static final Text RULE = Text.of("text.shown");

    /** Letters and marks by their kind that show nothing: fillers of Hangul, Khmer and Mongolian, the joiner of graphemes, blank Braille. */
    private static final Set<Integer> UNSEEN =
            Set.of(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0);

    private ShownText() {}

    /** Whether a text may be shown as it is. It may be empty. */
    public static boolean isClean(String text) {
        return text.codePoints().allMatch(ShownText::isClean);
    }

    /**
     * Whether a text may be shown as a name: clean, with something to see, without a space at an end.
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
     * A text without the characters that nobody sees, and without space at its ends: what two people who see the same have both typed. Also
     * what selects a variation goes, and what joins characters.
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

    /** Whether a clean character shows something by itself. */
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
                    default -> (character & 0xFFFE) != 0xFFFE; // which are no characters in any plane
                };
    }
}
