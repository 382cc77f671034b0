package dev.hongbao.common.values;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.regex.Pattern;

/** The address of a picture: {@code https}, with a host and without a user, in visible ASCII. The server never fetches it. */
public record PictureUrl(String value) {
    /** The longest that is taken, in characters. */
    public static final int MAX_LENGTH = 500;

    /** The contract's pattern: what may stand in a URL, so that it is safe inside quotes as well. */
    private static final Pattern FORM =
            Pattern.compile("https://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(/[!#$%&'()*+,./0-9:;=?@A-Z_a-z~-]*)?");

    /** @throws IllegalArgumentException for another text */
    public PictureUrl {
        if (!isValid(value)) {
            throw new IllegalArgumentException("not the https URL of a picture");
        }
    }

    /** Whether {@code text} is one. */
    public static boolean isValid(String text) {
        if (text.length() > MAX_LENGTH || !FORM.matcher(text).matches()) {
            return false;
        }
        try {
            URI uri = new URI(text);
            return uri.getHost() != null && uri.getRawUserInfo() == null;
        } catch (URISyntaxException malformed) {
            return false;
        }
    }

    @Override
    public String toString() {
        return value;
    }
}
