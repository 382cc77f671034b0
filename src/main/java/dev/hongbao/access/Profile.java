package dev.hongbao.access;

import dev.hongbao.values.JsonText;
import dev.hongbao.values.PictureUrl;
import dev.hongbao.values.ShownText;
import dev.hongbao.values.UserId;
import java.util.Collection;
import java.util.Map;
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

    /** The field {@code profiles}, of the users who have a profile; absent if none has. */
    public static void people(JsonText json, Collection<UserId> users, Map<UserId, Profile> profiles) {
        boolean begun = false;
        for (UserId user : users) {
            Profile profile = profiles.get(user);
            if (profile != null) {
                if (!begun) {
                    json.name("profiles").beginObject();
                    begun = true;
                }
                profile.write(json.name(user.value()).beginObject());
                json.endObject();
            }
        }
        if (begun) {
            json.endObject();
        }
    }

    /** Its fields in the contract's JSON. */
    void write(JsonText json) {
        json.field("displayName", displayName).field("avatar", avatar == null ? null : avatar.value());
    }

    public boolean isEmpty() {
        return displayName == null && avatar == null;
    }

    /**
     * A user's stored profile.
     *
     * @param givenBy {@code service} or {@code token}; null when none is stored
     */
    public record Stored(Profile profile, @Nullable String givenBy) {}
}
