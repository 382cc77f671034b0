package dev.hongbao.domain.ledger;

import java.util.regex.Pattern;

/**
 * What is counted: {@code CNY} in fen, {@code POINTS}, any code; amounts are always whole minor units.
 *
 * @param code 1 to 16 upper-case ASCII letters, digits and underscores, a letter first
 */
public record Asset(String code) {
    private static final Pattern PATTERN = Pattern.compile("[A-Z][A-Z0-9_]{0,15}");

    public Asset {
        if (!PATTERN.matcher(code).matches()) {
            throw new IllegalArgumentException("an asset is 1 to 16 characters of " + PATTERN.pattern());
        }
    }

    @Override
    public String toString() {
        return code;
    }
}
