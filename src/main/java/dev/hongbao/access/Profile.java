package dev.hongbao.access;

import dev.hongbao.values.PictureUrl;
import dev.hongbao.values.ShownText;
import org.jspecify.annotations.Nullable;

/**
 * A user's name and picture.
 *
 * @param displayName a name ({@link ShownText#isName}) of at most {@link #MAX_NAME} characters; null shows the user's id
 * @param avatar null for none
 */
public record Profile(
        @Nullable String displayName, @Nullable PictureUrl avatar) {
    /** The longest name, in characters as people count them. */
    public static final int MAX_NAME = 64;

    /** No name and no picture. */
    public static final Profile NONE = new Profile(null, null);

    public Profile {
        if (displayName != null && !ShownText.isName(displayName, MAX_NAME)) {
            throw new IllegalArgumentException("not a name");
        }
    }

    /** The valid parts of a token's {@code name} and {@code picture}; invalid parts are absent. */
    public static Profile ofToken(@Nullable Object name, @Nullable Object picture) {
        return new Profile(
                name instanceof String text && ShownText.isName(text, MAX_NAME) ? text : null,
                picture instanceof String url && PictureUrl.isValid(url) ? new PictureUrl(url) : null);
    }

    public boolean isEmpty() {
        return displayName == null && avatar == null;
    }

    /**
     * A user's stored profile.
     *
     * @param givenBy null when none is stored
     */
    public record Stored(Profile profile, @Nullable GivenBy givenBy) {}

    /** The source of a profile. */
    public enum GivenBy {
        SERVICE,
        TOKEN
    }
}
